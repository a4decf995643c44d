"""PipelineDP on its local backend: count and mean share their count, sums are centred, rows are bounded in all."""

from __future__ import annotations

import csv
from importlib.metadata import version
from time import perf_counter
from typing import Any

import pipeline_dp

from .cold import whole_visits
from .scores import root_mean_square, visits_scores


def versions() -> dict[str, str]:
    return {"pipeline-dp": version("pipeline-dp")}


def cold(**arguments: Any) -> tuple[float, int, dict[str, Any]]:
    return whole_visits(__name__, arguments)


def visits(
    path: str, cities: list[str], counts: list[float], means: list[float], epsilon: float, rows: int, repetitions: int
) -> tuple[float, int, dict[str, Any]]:
    with open(path) as file:
        table = [(row["user"], row["city"], float(row["fare"])) for row in csv.DictReader(file)]
    asked = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.COUNT, pipeline_dp.Metrics.MEAN],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_contributions=rows,
        min_value=0,
        max_value=100,
    )
    answers = []
    started = perf_counter()
    for _ in range(repetitions):
        found = _aggregate(table, asked, epsilon, 0, cities)
        answers.append(([found[city].count for city in cities], [found[city].mean for city in cities]))
    return perf_counter() - started, repetitions, visits_scores(answers, counts, means)


def private_keys(
    path: str, truth: dict[str, int], epsilon: float, delta: float, each: int, strategy: str, repetitions: int
) -> tuple[float, int, dict[str, Any]]:
    """By truncated geometric selection beside the count, or by a threshold on the noisy count itself with all of ε."""
    with open(path) as file:
        table = [(row["user"], row["word"], 0.0) for row in csv.DictReader(file)]
    asked = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=each,
        max_contributions_per_partition=1,
        partition_selection_strategy=pipeline_dp.PartitionSelectionStrategy[strategy],
        post_aggregation_thresholding=strategy == "LAPLACE_THRESHOLDING",
    )
    kept, errors = 0, []
    started = perf_counter()
    for _ in range(repetitions):
        found = _aggregate(table, asked, epsilon, delta, None)
        kept += len(found)
        errors += [answer.privacy_id_count - truth[word] for word, answer in found.items()]
    seconds = perf_counter() - started
    return seconds, repetitions, {"kept": kept / repetitions, "count": root_mean_square(errors)}


def _aggregate(table: list[Any], asked: Any, epsilon: float, delta: float, keys: list[str] | None) -> dict[str, Any]:
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    result = engine.aggregate(table, asked, extractors, public_partitions=keys)
    accountant.compute_budgets()
    return dict(result)
