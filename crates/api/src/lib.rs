//! What handoff says to machines: `--json` documents and exit codes, and later HTTP, events streams and MCP.
//!
//! Every document carries `"schema"`, a name with a version. Fields are added freely; a field that goes away or changes its
//! meaning raises the version. Internal types never go out as they are: they may change, these may not.

#![warn(missing_docs)]

mod agent;
mod backup;
mod batch;
mod document;
mod error;
mod event;
mod exit;
mod feature;
mod gc;
mod git;
mod help;
mod message;
mod operation;
mod package;
mod plan;
mod project;
mod prompt;
mod session;
mod store;
mod task;
mod teaching;
mod upgrade;
mod workflow;
mod workspace;

pub use agent::{AgentDocument, AgentsDocument, RehearsalChange, RehearsalDocument};
pub use backup::{BackupDocument, BackupManifest, RestoreDocument};
pub use batch::{
    BatchDocument, BatchPartDocument, BatchPlanDocument, BatchReceipt, BatchReportDocument,
    BatchRow, BatchesDocument, CalibrationRow, LeftOutDocument, PartFacts, PlannedPart,
    StintDocument,
};
pub use document::{Body, Document};
pub use error::ErrorDocument;
pub use event::EventDocument;
pub use exit::{ExitCode, ExitCodesDocument};
pub use feature::{
    CheckDocument, CheckRunDocument, CheckStanding, CheckpointDocument, FeatureStatusDocument,
    StatusDocument, TreeDocument, TrustDocument, VerifiedCheck, VerifyDocument,
};
pub use gc::{GcDocument, GcItem, GcRow};
pub use git::{
    BaselineDocument, CommitDocument, ForeignMoveDocument, GuardDocument, GuardVerdictDocument,
    HooksDocument, HooksWord, IndexWord, LandingDocument, PruneDocument, RescueDocument, SavedRow,
    StuckWorktree, WorktreeRow, WorktreesDocument,
};
pub use help::{CompletionDocument, HelpDocument};
pub use message::{
    AnswerDocument, AnsweredDocument, DialogDocument, InterruptDocument, LastWordDocument,
    MessageDocument, MessageStep, MessagesDocument, ReplyDocument, SenderDocument,
    SessionWaitDocument, SignalDocument, TroubleDocument,
};
pub use operation::{OperationRow, OperationSchemaDocument, OperationsDocument};
pub use package::{
    AttachmentDocument, ClaimOutcome, ContextChangeDocument, ContextDocument, ContextEntryDocument,
    ContextHistoryDocument, ContextReceipt, IntegrityDocument, KeysDocument, PackageDocument,
    PackageReceipt, PackageRow, PackagesDocument, ReceivedDocument, SignerDocument, SweepDocument,
    TransferDocument, VerificationDocument,
};
pub use plan::{
    NextDocument, NoteReceipt, PlanDocument, PlanVerdict, ProblemDocument, ProblemSeverity,
    StepDocument, StepReceipt, StepState, ValidateDocument,
};
pub use project::{CensusDocument, NeedDocument, PausedRow, ProjectDocument, RunRow, SessionRow};
pub use prompt::{PromptDocument, TemplateDocument};
pub use session::{
    LogGapDocument, LogLineDocument, PaneDocument, SESSION_EVENT_SCHEMA, SessionDocument,
    SessionEndDocument, SessionsDocument, TenureDocument,
};
pub use store::{DoctorDocument, FaultDocument, Finding, StoreDocument, Verdict, VersionDocument};
pub use task::{
    ClaimDocument, HoldDocument, HoldReceipt, LeaseDocument, QueueDocument, Receipt,
    RepairDocument, RestDocument, StoppedWorkersDocument, SummonsDocument, TaskDocument,
    UnitDocument, WalkedDocument, WatchdogDocument, WorkerDocument, WorkersDocument,
};
pub use teaching::{
    RecipeDocument, RecipesDocument, SkillChangesDocument, SkillCopyDocument, SkillDocument,
    SkillsDocument, TextDocument,
};
pub use upgrade::{UpgradeDocument, UpgradeOutcome};
pub use workflow::{
    ContractDocument, ContractsDocument, FlawDocument, RunBatchDocument, RunDocument,
    RunStepDocument, RunsDocument, WorkflowCheckDocument, WorkflowDocument, WorkflowRow,
    WorkflowsDocument,
};
pub use workspace::{
    ArchiveDocument, ArchiveRow, CleaningDocument, CleaningOutcome, ExclusionDocument,
    ExportDocument, FeatureRow, FeaturesDocument, InitDocument, SwitchDocument,
};
