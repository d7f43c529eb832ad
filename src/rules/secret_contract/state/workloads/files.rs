//! The files that one container sees of the Secret: which volumes hold its keys, and what the mounts show of them.

use std::collections::HashSet;

use super::{Arrival, Declared};
use crate::rules::facts::{Container, PodTemplate, ProjectedSource, SecretSource, VolumeMount, VolumeSource};

/// The mounts of one container whose volume names the Secret.
pub(super) struct Files<'a> {
    declared: &'a Declared<'a>,
    pod: &'a PodTemplate,
    mounts: Vec<(&'a VolumeMount, &'a VolumeSource)>,
    /// Where something is mounted.
    places: HashSet<Vec<&'a str>>,
}

/// What became of a key as a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct File<'a> {
    pub(super) arrival: Arrival,
    /// Whether no source that is not read may have put another file in its place.
    pub(super) certain: bool,
    /// Why there is none, and in which volume; none where no volume is near.
    pub(super) miss: Option<(Miss, &'a str)>,
}

/// Why a volume that names the Secret does not bring a key; the nearer, the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Miss {
    /// The container does not mount it.
    NotMounted,
    /// `items` leave the key out.
    NotListed,
    /// `subPath` shows another part.
    OtherPart,
    /// `subPathExpr` has variables.
    NotLiteral,
    /// Something else of the volume has the path.
    Replaced,
    /// Another mount lies over the file.
    Covered,
}

impl<'a> File<'a> {
    const fn none(miss: Miss, volume: &'a str) -> Self {
        Self { arrival: Arrival::Never, certain: true, miss: Some((miss, volume)) }
    }
}

/// Whether something else takes the place of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Replaced {
    No,
    Perhaps,
    Surely,
}

impl<'a> Files<'a> {
    pub(super) fn of_container(
        container: &'a Container,
        pod: &'a PodTemplate,
        declared: &'a Declared<'a>,
    ) -> Self {
        let mounts = container.volume_mounts.iter().filter_map(|mount| {
            let source = &pod.volume(&mount.name)?.source;
            secrets(source, declared.secret).next().is_some().then_some((mount, source))
        });
        let places = container.volume_mounts.iter().filter_map(|mount| components(&mount.mount_path));
        Self { declared, pod, mounts: mounts.collect(), places: places.collect() }
    }

    /// The best that the mounts make of the key.
    pub(super) fn file(&self, key: &str) -> File<'a> {
        let found = self.mounts.iter().flat_map(|(mount, source)| self.of_mount(mount, source, key));
        found.max().unwrap_or_else(|| {
            let holds = |source| secrets(source, self.declared.secret).next().is_some();
            let idle = self.pod.volumes.iter().find(|volume| holds(&volume.source));
            let miss = idle.map(|volume| (Miss::NotMounted, volume.name.as_str()));
            File { arrival: Arrival::Never, certain: true, miss }
        })
    }

    /// Whether a mount shows a part of a volume only; such files stay as they are while the container runs.
    pub(super) fn has_sub_path(&self) -> bool {
        self.mounts.iter().any(|(mount, _)| mount.sub_path.is_some() || mount.sub_path_expr.is_some())
    }

    /// A volume that lists the key and keeps the pod from starting while the key is absent.
    pub(super) fn mandatory(&self, key: &str) -> Option<&'a str> {
        let lists =
            |source: &SecretSource| !source.optional && source.items.iter().any(|item| item.key == key);
        let mut mounts = self.mounts.iter();
        mounts
            .find(|(_, source)| secrets(source, self.declared.secret).any(lists))
            .map(|(mount, _)| mount.name.as_str())
    }

    fn of_mount(&self, mount: &'a VolumeMount, source: &'a VolumeSource, key: &str) -> Vec<File<'a>> {
        let volume = mount.name.as_str();
        let mut files = Vec::new();
        match source {
            VolumeSource::Secret(secret) => self.of_source(mount, secret, &[], key, &mut files),
            VolumeSource::Projected(sources) => {
                for (index, source) in sources.iter().enumerate() {
                    if let ProjectedSource::Secret(secret) = source
                        && secret.name == self.declared.secret
                    {
                        let later = sources.get(index + 1..).unwrap_or_default();
                        self.of_source(mount, secret, later, key, &mut files);
                    }
                }
            }
            VolumeSource::Other => {}
        }
        if files.is_empty() {
            files.push(File::none(Miss::NotListed, volume));
        }
        files
    }

    /// The files of one source; `later` are the sources that may put something else in their place.
    fn of_source(
        &self,
        mount: &'a VolumeMount,
        source: &SecretSource,
        later: &[ProjectedSource],
        key: &str,
        files: &mut Vec<File<'a>>,
    ) {
        let mut add = |path: &str, within: Replaced| {
            let others = later.iter().map(|source| self.replaces(source, path, key));
            let replaced = others.fold(within, Replaced::max);
            files.push(self.shown(mount, path, source.optional, replaced));
        };
        if source.items.is_empty() {
            add(key, Replaced::No);
        }
        for (index, item) in source.items.iter().enumerate().filter(|(_, item)| item.key == key) {
            let later = source.items.get(index + 1..).unwrap_or_default();
            let taken = later.iter().any(|other| other.key != key && same(&other.path, &item.path));
            add(&item.path, if taken { by(source.optional) } else { Replaced::No });
        }
    }

    /// Whether a later source of a projected volume writes another file to the path.
    fn replaces(&self, source: &ProjectedSource, path: &str, key: &str) -> Replaced {
        let plain = !path.contains('/');
        match source {
            ProjectedSource::Secret(secret)
                if secret.items.is_empty() && secret.name == self.declared.secret =>
            {
                match self.declared.required(path) {
                    Some(required) if path != key => by(!required),
                    _ => Replaced::No,
                }
            }
            ProjectedSource::Secret(secret) if secret.items.is_empty() => {
                if plain {
                    Replaced::Perhaps
                } else {
                    Replaced::No
                }
            }
            ProjectedSource::Secret(secret) => {
                let own = secret.name == self.declared.secret;
                let mut items = secret.items.iter();
                let taken = items.any(|item| same(&item.path, path) && !(own && item.key == key));
                if taken { by(secret.optional) } else { Replaced::No }
            }
            ProjectedSource::Other { paths, .. } if paths.iter().any(|other| same(other, path)) => {
                Replaced::Surely
            }
            ProjectedSource::Other { open: true, .. } if plain => Replaced::Perhaps,
            ProjectedSource::Other { .. } => Replaced::No,
        }
    }

    /// What a mount makes of a file of its volume.
    fn shown(&self, mount: &'a VolumeMount, path: &str, optional: bool, replaced: Replaced) -> File<'a> {
        let none = |miss| File::none(miss, &mount.name);
        let Some(path) = components(path) else { return none(Miss::NotListed) };
        if replaced == Replaced::Surely {
            return none(Miss::Replaced);
        }
        let part = match (&mount.sub_path_expr, &mount.sub_path) {
            (Some(expression), _) => match literal(expression) {
                Some(part) => part,
                None => return none(Miss::NotLiteral),
            },
            (None, part) => part.clone().unwrap_or_default(),
        };
        let rest = match components(&part) {
            Some(part) if !part_is_absolute(mount) && path.starts_with(&part) => {
                path.get(part.len()..).unwrap_or_default()
            }
            _ => return none(Miss::OtherPart),
        };
        if self.is_covered(mount, rest) {
            return none(Miss::Covered);
        }
        let arrival = if optional { Arrival::Optional } else { Arrival::Surely };
        File { arrival, certain: replaced == Replaced::No, miss: None }
    }

    /// Whether another mount lies over the file at `rest` below the mount.
    fn is_covered(&self, mount: &VolumeMount, rest: &[&str]) -> bool {
        let Some(place) = components(&mount.mount_path) else { return false };
        let file: Vec<&str> = place.iter().chain(rest).copied().collect();
        let mut above = (place.len() + 1..=file.len()).filter_map(|end| file.get(..end));
        above.any(|other| self.places.contains(other))
    }
}

/// The sources of a volume that name the Secret.
fn secrets<'a>(source: &'a VolumeSource, secret: &str) -> impl Iterator<Item = &'a SecretSource> {
    let (single, sources) = match source {
        VolumeSource::Secret(source) => (Some(source), &[][..]),
        VolumeSource::Projected(sources) => (None, sources.as_slice()),
        VolumeSource::Other => (None, &[][..]),
    };
    let projected = sources.iter().filter_map(|source| match source {
        ProjectedSource::Secret(source) => Some(source),
        ProjectedSource::Other { .. } => None,
    });
    single.into_iter().chain(projected).filter(move |source| source.name == secret)
}

/// Something that writes a path, or leaves it alone where it may be absent.
const fn by(may_be_absent: bool) -> Replaced {
    if may_be_absent { Replaced::Perhaps } else { Replaced::Surely }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// The parts of a path; none for one that climbs.
fn components(path: &str) -> Option<Vec<&str>> {
    let parts: Vec<&str> = parts(path).collect();
    (!parts.contains(&"..")).then_some(parts)
}

fn same(left: &str, right: &str) -> bool {
    parts(left).eq(parts(right))
}

/// The kubelet refuses to mount an absolute part.
fn part_is_absolute(mount: &VolumeMount) -> bool {
    let part = mount.sub_path_expr.as_ref().or(mount.sub_path.as_ref());
    part.is_some_and(|part| part.starts_with('/'))
}

/// A `subPathExpr` without variables, as the kubelet expands it: `$$` is a dollar sign. None if it has variables.
fn literal(expression: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = expression;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        text.push('$');
        rest = match after.strip_prefix('$') {
            Some(after) => after,
            None if after.starts_with('(') && after.contains(')') => return None,
            None => after,
        };
    }
    text.push_str(rest);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_without_variables_are_literal() {
        for (expression, expected) in [
            ("a/b", Some("a/b")),
            ("", Some("")),
            ("$(POD)/a", None),
            ("a$$(POD)", Some("a$(POD)")),
            ("a$b", Some("a$b")),
            ("a$(b", Some("a$(b")),
            ("a$", Some("a$")),
            ("$$$(A)", None),
        ] {
            assert_eq!(literal(expression).as_deref(), expected, "{expression}");
        }
    }

    #[test]
    fn paths_are_compared_part_by_part() {
        assert_eq!(components("/a//b/./c/"), Some(vec!["a", "b", "c"]));
        assert_eq!(components("a/../b"), None);
        assert_eq!(components("..a/b.."), Some(vec!["..a", "b.."]));
        assert!(same("a", "./a/") && !same("a", "b"));
    }
}
