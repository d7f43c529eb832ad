//! The words in the status of a `SecretContract`: condition types, their reasons, and the reasons of single findings.

use crate::api::words::closed_words;

closed_words! {
    /// The six conditions of a contract, in the order in which Ready looks for its reason.
    pub enum ContractCondition {
        /// True: the Secret named by `spec.secretRef` was read. False: it does not exist.
        /// Unknown: it could not be read, or was not looked for yet. Always counts in Ready.
        SecretExists,
        /// True: every key rule holds, or there are none. False: a required key is missing or a present key breaks a
        /// rule. Unknown: there is no Secret to judge, or its content could not be evaluated. Always counts in Ready.
        KeysValid,
        /// True: the ExternalSecret is ready and produces this very Secret, or none is declared (NotConfigured).
        /// False: it is missing, going, not ready, produces something else, or the Secret is gone or not its own.
        /// Unknown: it or the Secret cannot be read, or its report is missing or out of date. Counts in Ready only
        /// with `policy.requireExternalSecretReady`.
        ExternalSecretReady,
        /// True: the pod template of every declared workload references each required key in every selected container,
        /// or no workload is declared (NotConfigured). It does not say that pods run. False: a workload is missing,
        /// going, or lacks a reference. Unknown: a workload cannot be read. Counts in Ready only with
        /// `policy.requireWorkloadReference`.
        WorkloadsConfigured,
        /// True: the rotation time declared on the Secret is within `rotation.maxAge`, or there is no limit
        /// (NotConfigured). False: it is older, missing, malformed, or in the future. Unknown: there is no Secret to
        /// look at. Counts in Ready only with `policy.requireRotationPolicy`.
        RotationPolicySatisfied,
        /// True: every condition that counts is True for the current generation. False: at least one that counts is
        /// False, or the spec is invalid. Unknown: none is False, but at least one that counts is Unknown or belongs
        /// to an older generation.
        Ready,
    }
}

impl ContractCondition {
    /// The five conditions that Ready is made of, in the order in which it looks for its reason.
    pub const CHECKS: &'static [Self] = &[
        Self::SecretExists,
        Self::KeysValid,
        Self::ExternalSecretReady,
        Self::WorkloadsConfigured,
        Self::RotationPolicySatisfied,
    ];
}

closed_words! {
    /// The reasons of a contract's conditions: a closed list.
    pub enum ContractReason {
        /// Unknown: the check is configured but has not been evaluated for this generation yet; or the ExternalSecret
        /// does not say yet whether it is ready.
        Pending,
        /// True: the contract does not configure this optional check, so it cannot fail.
        NotConfigured,
        /// Ready False, the others Unknown: the stored spec breaks a rule that admission would refuse today. Nothing is
        /// checked until the spec is mended.
        InvalidSpec,
        /// Unknown: the spec asks for something that this version does not know, for example a newer format.
        NotSupported,
        /// Unknown: the API server does not let Covenant read the object that is declared. This says nothing about the
        /// object; bind the role that allows the read.
        AccessDenied,
        /// Unknown: the API server could not be asked, or answered with an error. It is tried again.
        APIError,
        /// Unknown, and only in the answer of `covenant check`, never in a cluster: what the contract declares is not
        /// among the files that were given, so nothing is known of it; or it lacks what only a cluster writes.
        NotInInput,
        /// SecretExists True: the Secret was read.
        SecretFound,
        /// SecretExists True: the Secret was read but is being deleted. Its content is judged until it is gone.
        SecretTerminating,
        /// SecretExists False: there is no Secret of that name. The conditions that need its content are Unknown with
        /// the same reason.
        SecretNotFound,
        /// KeysValid True: every declared key rule holds for the Secret that was read.
        RulesSatisfied,
        /// KeysValid True: the contract declares no key rules; only the Secret's existence is asked for.
        NoRules,
        /// KeysValid False: required keys are missing, or present keys break a rule. `status.missingKeys` and
        /// `status.violations` name them.
        KeysInvalid,
        /// KeysValid Unknown: a pattern or format had to read more than the limits allow, and nothing else of the
        /// contract is definitely broken. WorkloadsConfigured Unknown: a pod template has so many entries that judging it
        /// would hold up other contracts.
        EvaluationLimitExceeded,
        /// KeysValid Unknown: the Secret has a type that this installation does not evaluate, for example a service
        /// account token.
        TypeNotPermitted,
        /// ExternalSecretReady True: the ExternalSecret reports Ready for its current generation and produces this
        /// Secret.
        ExternalSecretReady,
        /// ExternalSecretReady False: the ExternalSecret reports that it is not ready.
        ExternalSecretNotReady,
        /// ExternalSecretReady False: there is no ExternalSecret of that name in the contract's namespace.
        ExternalSecretNotFound,
        /// ExternalSecretReady False: the ExternalSecret is being deleted.
        ExternalSecretTerminating,
        /// ExternalSecretReady Unknown: its report is for an older generation, is overdue, or cannot be understood.
        ExternalSecretStale,
        /// ExternalSecretReady False: the ExternalSecret is set to produce another Secret, or none.
        TargetMismatch,
        /// ExternalSecretReady False: the ExternalSecret reports success, but the Secret is not there.
        TargetMissing,
        /// ExternalSecretReady False: the Secret is not owned by the ExternalSecret that claims to have made it.
        NotOwned,
        /// ExternalSecretReady Unknown: the API server does not serve the ExternalSecret kind. It is found without a
        /// restart once it does.
        APINotServed,
        /// WorkloadsConfigured True: every selected container of every declared workload references the required keys.
        WorkloadsReferenceSecret,
        /// WorkloadsConfigured False: a declared workload does not exist.
        WorkloadNotFound,
        /// WorkloadsConfigured False: a declared workload is being deleted.
        WorkloadTerminating,
        /// WorkloadsConfigured False: at least one selected container does not receive what the contract requires.
        /// `status.workloadFindings` says which.
        ReferenceMissing,
        /// RotationPolicySatisfied True: the declared rotation time is no older than `rotation.maxAge`.
        WithinMaxAge,
        /// RotationPolicySatisfied False: the declared rotation time is older than `rotation.maxAge`.
        MaxAgeExceeded,
        /// RotationPolicySatisfied False: the Secret does not carry the rotation annotation.
        RotationTimeMissing,
        /// RotationPolicySatisfied False: the rotation annotation is not an RFC 3339 time.
        RotationTimeInvalid,
        /// RotationPolicySatisfied False: the declared rotation time lies in the future, beyond the clock skew that the
        /// installation allows.
        RotationTimeInFuture,
        /// Ready True: everything that counts is satisfied.
        ContractSatisfied,
    }
}

closed_words! {
    /// What a present key breaks: the field of its rule, or `representation`.
    pub enum ViolationRule {
        /// The rule `format`: the value is not what the format asks for.
        Format = "format",
        /// The rule `maxLength`: the decoded value has more bytes.
        MaxLength = "maxLength",
        /// The rule `minLength`: the decoded value has fewer bytes.
        MinLength = "minLength",
        /// The rule `nonEmpty`: the decoded value has no bytes. No other rule of the key is reported beside it.
        NonEmpty = "nonEmpty",
        /// The rule `pattern`: the value does not match.
        Pattern = "pattern",
        /// No field: the value cannot be given to a container as an environment variable, though a declared workload
        /// takes it as one, because it holds a zero byte.
        Representation = "representation",
    }
}

closed_words! {
    /// The reason of an entry of `status.violations`, one to each rule.
    pub enum ViolationReason {
        /// The value is not valid in the declared format.
        FormatInvalid,
        /// The value is longer than `maxLength`.
        TooLong,
        /// The value is shorter than `minLength`.
        TooShort,
        /// The value is empty although `nonEmpty` is in force.
        Empty,
        /// The value does not match `pattern`.
        PatternMismatch,
        /// The value holds a zero byte and cannot be an environment variable.
        NotRepresentable,
    }
}

impl ViolationRule {
    /// The reason that an entry for this rule carries.
    pub const fn reason(self) -> ViolationReason {
        match self {
            Self::Format => ViolationReason::FormatInvalid,
            Self::MaxLength => ViolationReason::TooLong,
            Self::MinLength => ViolationReason::TooShort,
            Self::NonEmpty => ViolationReason::Empty,
            Self::Pattern => ViolationReason::PatternMismatch,
            Self::Representation => ViolationReason::NotRepresentable,
        }
    }
}

closed_words! {
    /// The reason of an entry of `status.workloadFindings`.
    pub enum WorkloadFindingReason {
        /// The contract names a container that the pod template does not have.
        ContainerNotFound,
        /// The contract names an init container, but `includeInitContainers` is not true.
        InitContainerNotIncluded,
        /// An optional key is referenced in a way that keeps the pod from starting when the key is absent.
        MandatoryReference,
        /// A required key is referenced only in ways that are marked optional, so the container would start without it.
        OptionalReference,
        /// No reference of the container brings the required key to it.
        ReferenceMissing,
        /// A reference brings the key, but a later source overwrites its variable.
        Shadowed,
    }
}
