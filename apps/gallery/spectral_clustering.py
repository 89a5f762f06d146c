"""Clusters that are no balls: two rings, told apart by the graph of nearest neighbours.

Needs scikit-learn. The picture is printed in characters.
"""

import sys

import numpy as np

import blockspan.cluster


def rings(points: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ring = np.arange(points) % 2
    angle = rng.uniform(0, 2 * np.pi, points)
    radius = 1 + ring + rng.normal(0, 0.06, points)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), ring


def draw(X: np.ndarray, labels: np.ndarray) -> None:
    page = np.full((24, 60), " ")
    rows, columns = ((X - X.min(0)) / np.ptp(X, axis=0) * [59, 23]).astype(int).T[::-1]
    page[rows, columns] = np.array(list("o+"))[labels]
    print("\n".join(map("".join, page)))


def main(points: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    X, ring = rings(points)
    model = blockspan.cluster.SpectralClustering(
        2, affinity="nearest_neighbors", assign_labels="cluster_qr", random_state=0
    )
    labels = model.fit_predict(X)
    draw(X, labels)
    right = max(np.mean(labels == ring), np.mean(labels != ring))
    print(f"{model.affinity_matrix_.nnz} edges, {right:.1%} of {points} points in their ring")
    return labels, ring


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
