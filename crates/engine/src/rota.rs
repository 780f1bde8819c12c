//! Who is at work, and whether there is room for one more: slots, limits of agents, and a pause between two starts. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use handoff_core::backoff::Backoff;
use handoff_core::time::Nanos;
use handoff_core::{AgentName, SessionId, Task};
use handoff_store::queue::Agents;

/// How much a worker takes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capacity {
    /// How many tasks are worked on at the same time.
    pub slots: usize,
    /// The agent for tasks that ask for none of their own.
    pub usual: Option<AgentName>,
    /// How many at most for one agent.
    pub limits: BTreeMap<AgentName, usize>,
    /// How long it takes at least from one start to the next.
    pub stagger: Duration,
}

/// What may be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Claim something for one of these.
    Claim(Agents),
    /// Not yet: the last one has begun a moment ago.
    After(Duration),
    /// All hands are busy, or all agents are.
    Full,
}

/// One who has a task.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Hand {
    /// An agent works for it, or a check runs.
    Busy(Option<AgentName>),
    /// What is left is the tool's own work: it takes no slot.
    Finishing,
}

/// Who is at work.
#[derive(Debug)]
pub(crate) struct Rota {
    capacity: Capacity,
    /// By session: a task that is given back may be begun again before the hand of its last attempt is done.
    hands: BTreeMap<SessionId, Hand>,
    begun_at: Option<Nanos>,
    /// How many hands in a row had to give up.
    given_up: u32,
    /// Nothing is claimed before this.
    rests_until: Option<Nanos>,
}

/// Hands give up for what the task has nothing to do with: the disk is full, the server is gone. That hits the next task as well.
const AFTER_GIVING_UP: Backoff = Backoff {
    first: Duration::from_secs(1),
    longest: Duration::from_mins(5),
    patience: Duration::MAX,
};

impl Rota {
    pub(crate) const fn new(capacity: Capacity) -> Self {
        Self {
            capacity,
            hands: BTreeMap::new(),
            begun_at: None,
            given_up: 0,
            rests_until: None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hands.is_empty()
    }

    /// How many tasks are worked on at the same time.
    pub(crate) const fn slots(&self) -> usize {
        self.capacity.slots
    }

    /// The agent for tasks that ask for none.
    pub(crate) const fn usual(&self) -> Option<&AgentName> {
        self.capacity.usual.as_ref()
    }

    /// Whether another task can be claimed.
    pub(crate) fn turn(&self, now: Nanos) -> Turn {
        // Agents that end faster than anybody can see to what they left do not pile it up.
        let most = self.capacity.slots.saturating_mul(2);
        if self.busy().count() >= self.capacity.slots || self.hands.len() >= most {
            return Turn::Full;
        }
        let waited = self.begun_at.map(|at| now.since(at));
        let left = waited.map(|waited| self.capacity.stagger.saturating_sub(waited));
        let left = left.max(self.rest(now));
        match left.filter(|left| !left.is_zero()) {
            Some(left) => Turn::After(left),
            None => Turn::Claim(Agents {
                usual: self.capacity.usual.clone(),
                full: self.full(),
            }),
        }
    }

    /// One begins a new task.
    pub(crate) fn begin(&mut self, session: SessionId, task: &Task, now: Nanos) {
        self.join(session, task);
        self.begun_at = Some(now);
    }

    /// One goes on with a task whose session runs already: it is counted, but there was no start.
    pub(crate) fn join(&mut self, session: SessionId, task: &Task) {
        let agent = task.spec.agent.as_ref().or(self.usual()).cloned();
        self.hands.insert(session, Hand::Busy(agent));
    }

    /// Nothing runs in this session any more; its hand is not done.
    pub(crate) fn vacate(&mut self, session: SessionId) {
        if let Some(hand) = self.hands.get_mut(&session) {
            *hand = Hand::Finishing;
        }
    }

    /// How long all of them still rest.
    pub(crate) fn rest(&self, now: Nanos) -> Option<Duration> {
        let left = self.rests_until.map(|until| until.since(now));
        left.filter(|left| !left.is_zero())
    }

    /// A hand gave up: all of them rest, once, and longer each time. Those who give up meanwhile add nothing.
    pub(crate) fn give_up(&mut self, now: Nanos, dice: u32) {
        if self.rests_until.is_some_and(|until| now < until) {
            return;
        }
        self.given_up = self.given_up.saturating_add(1);
        let wait = AFTER_GIVING_UP.wait(self.given_up, Duration::ZERO, dice);
        self.rests_until = wait.map(|wait| now.after(wait));
    }

    /// A hand came to the end of its task: whatever kept the others from it is over.
    pub(crate) fn succeed(&mut self) {
        (self.given_up, self.rests_until) = (0, None);
    }

    pub(crate) fn leave(&mut self, session: SessionId) {
        self.hands.remove(&session);
    }

    /// The agents of those who have a slot.
    fn busy(&self) -> impl Iterator<Item = Option<&AgentName>> {
        self.hands.values().filter_map(|hand| match hand {
            Hand::Busy(agent) => Some(agent.as_ref()),
            Hand::Finishing => None,
        })
    }

    fn full(&self) -> Vec<AgentName> {
        let at_work = |agent: &AgentName| self.busy().filter(|it| *it == Some(agent)).count();
        let limits = self.capacity.limits.iter();
        let full = limits.filter(|(agent, most)| at_work(agent) >= **most);
        full.map(|(agent, _)| agent.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use handoff_core::task::TaskSpec;
    use handoff_core::{ProjectId, TaskId, Timestamp};

    use super::*;

    fn agent(name: &str) -> AgentName {
        name.parse().unwrap()
    }

    fn task(wants: Option<&str>) -> Task {
        let spec = TaskSpec {
            agent: wants.map(agent),
            ..TaskSpec::new("t".parse().unwrap(), "do it".parse().unwrap())
        };
        let id = TaskId::from_uuid(handoff_process::mint());
        let project = ProjectId::from_uuid(handoff_process::mint());
        Task::begin(id, project, spec, Timestamp::UNIX_EPOCH)
    }

    fn session() -> SessionId {
        SessionId::from_uuid(handoff_process::mint())
    }

    fn rota(slots: usize, stagger: u64) -> Rota {
        Rota::new(Capacity {
            slots,
            usual: Some(agent("claude")),
            limits: [(agent("claude"), 2), (agent("codex"), 1)].into(),
            stagger: Duration::from_secs(stagger),
        })
    }

    fn at(seconds: u64) -> Nanos {
        Nanos(0).after(Duration::from_secs(seconds))
    }

    #[track_caller]
    fn full(rota: &Rota) -> Vec<String> {
        match rota.turn(at(0)) {
            Turn::Claim(agents) => agents.full.into_iter().map(String::from).collect(),
            turn @ (Turn::After(_) | Turn::Full) => panic!("{turn:?}"),
        }
    }

    #[test]
    fn an_agent_with_enough_to_do_gets_no_more_and_others_do() {
        let mut rota = rota(8, 0);
        assert_eq!(full(&rota), [""; 0]);
        let first = session();
        rota.begin(first, &task(None), at(0));
        assert_eq!(full(&rota), [""; 0]);
        rota.begin(session(), &task(Some("claude")), at(0));
        assert_eq!(full(&rota), ["claude"]);
        rota.begin(session(), &task(Some("codex")), at(0));
        assert_eq!(full(&rota), ["claude", "codex"]);
        rota.leave(first);
        assert_eq!(full(&rota), ["codex"]);
    }

    #[test]
    fn no_more_than_there_are_slots_however_many_were_taken_over() {
        let mut rota = rota(1, 0);
        let (first, second) = (session(), session());
        rota.join(first, &task(None));
        rota.join(second, &task(None));
        assert_eq!(rota.turn(at(0)), Turn::Full);
        rota.leave(first);
        assert_eq!(rota.turn(at(0)), Turn::Full);
        rota.leave(second);
        assert!(rota.is_empty() && matches!(rota.turn(at(0)), Turn::Claim(_)));
    }

    #[test]
    fn what_only_the_tool_is_at_takes_no_slot_until_there_is_too_much_of_it() {
        let mut rota = rota(2, 0);
        let (task, sessions) = (task(Some("codex")), [(); 4].map(|()| session()));
        rota.begin(sessions[0], &task, at(0));
        assert_eq!(full(&rota), ["codex"]);
        rota.vacate(sessions[0]);
        assert_eq!(full(&rota), [""; 0], "its agent is gone");
        rota.join(sessions[1], &task);
        rota.join(sessions[2], &task);
        assert_eq!(rota.turn(at(0)), Turn::Full, "both slots are taken");
        rota.vacate(sessions[1]);
        rota.vacate(sessions[2]);
        rota.join(sessions[3], &task);
        assert_eq!(rota.turn(at(0)), Turn::Full, "three are not seen to yet");
        rota.leave(sessions[0]);
        assert_eq!(full(&rota), ["codex"]);
        rota.vacate(sessions[0]);
        assert!(!rota.is_empty(), "one who left does not come back");
    }

    #[test]
    fn a_task_that_is_begun_again_has_a_hand_of_its_own() {
        let mut rota = rota(1, 0);
        let (task, first, second) = (task(None), session(), session());
        rota.begin(first, &task, at(0));
        rota.vacate(first);
        rota.begin(second, &task, at(0));
        rota.leave(first);
        assert_eq!(rota.turn(at(0)), Turn::Full, "the second one is at work");
    }

    #[test]
    fn what_hits_everything_rests_everything_once_and_longer_each_time() {
        let mut rota = rota(8, 0);
        let rests = |rota: &Rota, now| match rota.turn(at(now)) {
            Turn::After(span) => span.as_secs(),
            Turn::Claim(_) | Turn::Full => 0,
        };
        for _ in 0..8 {
            rota.give_up(at(0), u32::MAX);
        }
        assert_eq!(rests(&rota, 0), 1, "eight hands, one rest");
        assert_eq!(rests(&rota, 1), 0);
        let mut waits = vec![];
        let mut now = 1;
        for _ in 0..9 {
            rota.give_up(at(now), u32::MAX);
            waits.push(rests(&rota, now));
            now += rests(&rota, now);
        }
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 300]);
        rota.succeed();
        rota.give_up(at(now), u32::MAX);
        assert_eq!(rests(&rota, now), 1);
        rota.succeed();
        assert_eq!(rests(&rota, now), 0);
    }

    #[test]
    fn starts_keep_their_distance() {
        let mut rota = rota(8, 2);
        rota.join(session(), &task(None));
        assert!(
            matches!(rota.turn(at(10)), Turn::Claim(_)),
            "nothing was started"
        );
        rota.begin(session(), &task(None), at(10));
        assert_eq!(rota.turn(at(11)), Turn::After(Duration::from_secs(1)));
        assert!(matches!(rota.turn(at(12)), Turn::Claim(_)));
    }
}
