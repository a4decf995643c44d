"""The rooms that can be measured, each a file beside this one, and groups of them by one name."""

from __future__ import annotations

ROOMS = (
    "noise",
    "accounting",
    "mechanisms",
    "query",
    "query_error",
    "ledger",
    "serve",
    "audit",
    "audit_hidden",
    "audit_training",
    "audit_peers",
    "learn",
    "learn_estimators",
    "learn_federation",
    "learn_accuracy",
    "learn_teachers",
    "collect_local",
    "collect_kept",
    "collect_spark",
    "collect_words",
    "collect_numbers",
    "collect_shuffle",
    "collect_prio3",
    "collect_streams",
    "collect_alerts",
    "collect_intake",
    "publish_mobility",
    "publish_tables",
    "publish_workloads",
    "publish_graphs",
    "publish_genomes",
    "publish_hierarchy",
    "publish_prices",
)

GROUPS = {"all": ROOMS} | {
    whole: tuple(room for room in ROOMS if room.startswith(f"{whole}_")) for whole in ("collect", "publish")
}
