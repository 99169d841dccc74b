"""Policies: when an eviction that is due may begin. Pure; off by default."""

from bailiff.decisions.policies.blast import (
    NO_BLAST,
    Blast,
    blast_excess,
    enough_pods,
    is_acknowledged,
)
from bailiff.decisions.policies.breaker import (
    CLUSTER,
    BreakerLevel,
    BreakerState,
    describe_zone,
    is_failing,
    judge,
    judge_all,
    zone_of,
)
from bailiff.decisions.policies.circumstances import UNKNOWN, Circumstances, Gang, Unknown
from bailiff.decisions.policies.fields import LabelSelector, Operator, Requirement
from bailiff.decisions.policies.hold import Cause, Hold
from bailiff.decisions.policies.limits import (
    NO_LIMIT,
    free_at,
    limit_hold,
    retune,
    slowed,
    spend,
)
from bailiff.decisions.policies.order import Rank, rank
from bailiff.decisions.policies.over_time import Way, Wish
from bailiff.decisions.policies.over_time_book import BookError, read_book, write_book
from bailiff.decisions.policies.over_time_columns import EMPTY_BOOK, Book, Column, Sheet
from bailiff.decisions.policies.over_time_counts import OpenBook, counted, is_counted, room_for
from bailiff.decisions.policies.over_time_settings import (
    Gangs,
    OverTime,
    OverTimeBudget,
    Per,
    Store,
    Unreadable,
)
from bailiff.decisions.policies.over_time_size import crowding
from bailiff.decisions.policies.pause import PauseNotice, read_pause, write_pause
from bailiff.decisions.policies.publisher import Publisher
from bailiff.decisions.policies.reading import PolicyError, read, schema
from bailiff.decisions.policies.rules import (
    gang_of,
    gang_stays,
    group_of,
    hold,
    may_hold,
    selects_pods,
    uncounted,
    wishes_of,
)
from bailiff.decisions.policies.selectors import selects
from bailiff.decisions.policies.settings import (
    NO_POLICIES,
    BlastRadius,
    Breaker,
    Breakers,
    DrainOrder,
    EvictionApi,
    Exclusion,
    Limit,
    Limits,
    Pause,
    Policies,
    Weekday,
    Window,
)
from bailiff.decisions.policies.weakening import fingerprint, weakenings

__all__ = [
    "CLUSTER",
    "EMPTY_BOOK",
    "NO_BLAST",
    "NO_LIMIT",
    "NO_POLICIES",
    "UNKNOWN",
    "Blast",
    "BlastRadius",
    "Book",
    "BookError",
    "Breaker",
    "BreakerLevel",
    "BreakerState",
    "Breakers",
    "Cause",
    "Circumstances",
    "Column",
    "DrainOrder",
    "EvictionApi",
    "Exclusion",
    "Gang",
    "Gangs",
    "Hold",
    "LabelSelector",
    "Limit",
    "Limits",
    "OpenBook",
    "Operator",
    "OverTime",
    "OverTimeBudget",
    "Pause",
    "PauseNotice",
    "Per",
    "Policies",
    "PolicyError",
    "Publisher",
    "Rank",
    "Requirement",
    "Sheet",
    "Store",
    "Unknown",
    "Unreadable",
    "Way",
    "Weekday",
    "Window",
    "Wish",
    "blast_excess",
    "counted",
    "crowding",
    "describe_zone",
    "enough_pods",
    "fingerprint",
    "free_at",
    "gang_of",
    "gang_stays",
    "group_of",
    "hold",
    "is_acknowledged",
    "is_counted",
    "is_failing",
    "judge",
    "judge_all",
    "limit_hold",
    "may_hold",
    "rank",
    "read",
    "read_book",
    "read_pause",
    "retune",
    "room_for",
    "schema",
    "selects",
    "selects_pods",
    "slowed",
    "spend",
    "uncounted",
    "weakenings",
    "wishes_of",
    "write_book",
    "write_pause",
    "zone_of",
]
