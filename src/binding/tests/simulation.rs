//! Passes of two controllers over the model of an API server, cut into each other at every read and every write, with
//! users, faults and lost replies in between; and the invariants, checked at every write of ours.

use super::build::now;
use super::model::Server;
use crate::binding::{
    DatabaseWorld, InstanceWorld, Listing, Lookup, Namespace, Observation, Operation, Outcome,
    ReferringTenant, Step, StepName, Target, TenantWorld, Tried, plan_database, plan_instance, plan_tenant,
};

/// A small generator, so that a failure is repeated by its seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        let at = usize::try_from(self.below(items.len().max(1) as u64)).unwrap();
        items.get(at).cloned()
    }
}

/// What may happen in a schedule.
#[derive(Clone, Copy)]
pub(super) struct Weather {
    /// Percent of reads that fail, writes whose reply is lost, and writes that are refused.
    pub(super) faults: u64,
    /// Percent of points at which something else happens before it goes on.
    pub(super) interruptions: u64,
    /// Whether users write past the rules: status and `spec.tenantRef`.
    pub(super) tampering: bool,
    /// Whether Databases are verified by a server.
    pub(super) verified: bool,
}

pub(super) struct Simulation {
    pub(super) server: Server,
    pub(super) random: Random,
    pub(super) weather: Weather,
    pub(super) writes: u64,
    pub(super) log: Vec<String>,
    pub(super) steps: Vec<StepName>,
    /// The records that users have forged: they may break what rests on them.
    pub(super) forged: Vec<String>,
    /// The UIDs of Databases whose finalizers somebody took away.
    pub(super) forced: Vec<String>,
    depth: u32,
}

impl Simulation {
    pub(super) fn new(seed: u64, weather: Weather) -> Self {
        let mut server = Server::default();
        server.create_instance();
        let random = Random::new(seed);
        Self {
            server,
            random,
            weather,
            writes: 0,
            log: Vec::new(),
            steps: Vec::new(),
            forged: Vec::new(),
            forced: Vec::new(),
            depth: 0,
        }
    }

    fn interrupt(&mut self) {
        if self.depth < 3 && self.random.chance(self.weather.interruptions) {
            self.depth += 1;
            self.anything();
            self.depth -= 1;
        }
    }

    /// One thing that may happen at any time.
    pub(super) fn anything(&mut self) {
        match self.random.below(10) {
            0 | 1 => self.user(),
            2 if self.weather.tampering => self.tamper(),
            3 => self.server.collect_garbage(),
            _ => self.any_pass(),
        }
    }

    fn any_pass(&mut self) {
        let tenants: Vec<String> = self.server.tenants.keys().cloned().collect();
        let databases: Vec<String> = self.server.databases.keys().cloned().collect();
        match self.random.below(8) {
            0 => self.pass_instance("main"),
            1..=3 => {
                self.random.pick(&databases).map(|name| self.pass_database(&name));
            }
            _ => {
                self.random.pick(&tenants).map(|key| self.pass_tenant(&key));
            }
        }
    }

    /// Every object once. Whether anything was written.
    pub(super) fn round(&mut self) -> bool {
        let before = self.writes;
        self.server.collect_garbage();
        for key in self.server.tenants.keys().cloned().collect::<Vec<_>>() {
            self.pass_tenant(&key);
        }
        for name in self.server.databases.keys().cloned().collect::<Vec<_>>() {
            self.pass_database(&name);
        }
        self.pass_instance("main");
        before != self.writes
    }

    fn fails(&mut self) -> bool {
        self.interrupt();
        self.random.chance(self.weather.faults)
    }

    fn observation(&self, generation: i64) -> Observation {
        match self.server.instances.get("main").filter(|_| self.weather.verified) {
            Some(instance) => {
                Observation::Verified { generation, instance_uid: instance.metadata.uid.clone() }
            }
            None => Observation::NotObserved,
        }
    }

    pub(super) fn pass_tenant(&mut self, key: &str) -> Step {
        let mut tried = None;
        loop {
            let world = self.tenant_world(key, tried);
            let step = plan_tenant(&world, now());
            match self.execute(&step) {
                Some(outcome) if outcome != Outcome::Changed => {
                    tried = step.as_write().map(|write| Tried { step: write.name, outcome });
                }
                _ => return step,
            }
        }
    }

    fn tenant_world(&mut self, key: &str, tried: Option<Tried>) -> TenantWorld {
        let mut world = TenantWorld { tried, namespace: Namespace::Active, ..TenantWorld::default() };
        if self.fails() {
            return world;
        }
        let Some(tenant) = self.server.tenants.get(key).cloned() else {
            world.tenant = Lookup::Absent;
            return world;
        };
        if !self.fails() {
            let carries = |uid: &str| uid == tenant.metadata.uid;
            let server = &self.server;
            let list = server
                .databases
                .values()
                .filter(|database| database.tenant_ref.as_ref().is_some_and(|bound| carries(&bound.uid)))
                .map(|database| server.observed(database));
            world.carrying = Listing::Complete(list.collect());
        }
        let look =
            |server: &Server, name: Option<&str>| match name.and_then(|name| server.databases.get(name)) {
                Some(database) => Lookup::Found(server.observed(database)),
                None => Lookup::Absent,
            };
        if !self.fails() {
            world.named = look(&self.server, tenant.named_database().as_deref());
            if tenant.named_database().as_deref() == tenant.recorded_database() {
                world.recorded = world.named.clone();
            }
        }
        if !self.fails() && tenant.named_database().as_deref() != tenant.recorded_database() {
            world.recorded = look(&self.server, tenant.recorded_database());
        }
        world.tenant = Lookup::Found(tenant);
        if let Some(name) = world.instance_name().map(str::to_owned)
            && !self.fails()
        {
            let found = self.server.instances.get(&name).cloned();
            world.instance = found.map_or(Lookup::Absent, Lookup::Found);
        }
        if let Some(names) = world.claim_names()
            && !self.fails()
        {
            world.claims = self.server.claims(&names);
        }
        let generation = world.named.found().map(|seen| seen.database.metadata.generation);
        world.observation = self.observation(generation.unwrap_or_default());
        world.delivered = Listing::Complete(Vec::new());
        world
    }

    pub(super) fn pass_database(&mut self, name: &str) -> Step {
        let mut world = DatabaseWorld::default();
        if self.fails() {
            return Step::Wait;
        }
        let Some(database) = self.server.databases.get(name).cloned() else { return Step::Idle };
        world.database = Lookup::Found(self.server.observed(&database));
        if !self.fails() {
            let record = database.tenant_on_record();
            let key = record.map(|record| format!("{}/{}", record.namespace, record.name));
            let found = key.and_then(|key| self.server.tenants.get(&key).cloned());
            world.tenant = found.map_or(Lookup::Absent, Lookup::Found);
        }
        if !self.fails() {
            let bound = database.tenant_ref.as_ref();
            let siblings = self.server.databases.values().filter(|other| {
                other.metadata.name != name
                    && bound.is_some()
                    && other.tenant_ref.as_ref().map(|other| &other.uid) == bound.map(|bound| &bound.uid)
            });
            world.siblings = Listing::Complete(siblings.map(|other| other.metadata.name.clone()).collect());
            world.instance =
                self.server.instances.get(&database.instance).cloned().map_or(Lookup::Absent, Lookup::Found);
            let owned = self.server.leases.iter().filter(|(_, lease)| lease.holder == database.metadata.uid);
            world.owned_claims = Listing::Complete(owned.map(|(name, _)| name.clone()).collect());
        }
        if let Some(names) = world.claim_names()
            && !self.fails()
        {
            world.claims = self.server.claims(&names);
        }
        world.observation = self.observation(database.metadata.generation);
        let step = plan_database(&world, now());
        self.execute(&step);
        step
    }

    fn pass_instance(&mut self, name: &str) {
        let mut world = InstanceWorld::default();
        if self.fails() {
            return;
        }
        world.instance = self.server.instances.get(name).cloned().map_or(Lookup::Absent, Lookup::Found);
        if !self.fails() {
            let refers = self.server.databases.values().filter(|database| database.instance == name);
            world.databases = Listing::Complete(refers.map(|found| found.metadata.name.clone()).collect());
        }
        if !self.fails() {
            let refers = self.server.tenants.values().filter(
                |tenant| matches!(&tenant.target, Target::Provision { instance, .. } if instance == name),
            );
            let all = refers.map(|tenant| ReferringTenant {
                namespace: tenant.metadata.namespace.clone().unwrap_or_default(),
                name: tenant.metadata.name.clone(),
                is_bound: tenant.recorded_database().is_some(),
                is_deleting: tenant.metadata.is_deleting,
            });
            world.tenants = Listing::Complete(all.collect());
        }
        self.execute(&plan_instance(&world, now()));
    }

    /// Does a step, or loses it, or loses the reply. Says what came of a write that was not done, as far as it is known.
    fn execute(&mut self, step: &Step) -> Option<Outcome> {
        let write = step.as_write()?;
        self.interrupt();
        if self.random.chance(self.weather.faults) {
            return Some(Outcome::Unavailable);
        }
        if self.random.chance(self.weather.faults) {
            return Some(Outcome::Refused { message: "quota".to_owned() });
        }
        if write.is_dry_run {
            return Some(Outcome::Admitted);
        }
        if let Err(outcome) = self.server.admit(&write.operation) {
            return Some(outcome);
        }
        self.writes += 1;
        self.steps.push(write.name);
        self.log.push(format!("{} {}", super::build::shown(step), target(&write.operation)));
        self.check(&self.server, write.name, &write.operation);
        self.server.apply(&write.operation);
        self.random.chance(self.weather.faults).then_some(Outcome::Unavailable)
    }
}

fn target(operation: &Operation) -> String {
    match operation {
        Operation::ReplaceFinalizers { object, .. }
        | Operation::Bind { object, .. }
        | Operation::ReplaceStatus { object, .. }
        | Operation::DeleteDatabase { object } => format!("{}/{}", object.name, object.uid),
        Operation::CreateDatabase { body } | Operation::CreateLease { body } => {
            body["metadata"]["name"].to_string()
        }
        Operation::DeleteLease { name, .. } => name.clone(),
        Operation::DeleteDelivered { object, .. } => object.name.clone(),
    }
}
