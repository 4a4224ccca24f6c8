import Foundation

/// The ratios that were reached once, by name. Kept in the repository, so that a slower kernel is noticed.
struct Thresholds: Codable {
    /// Times memcpy.
    private let ratios: [String: Double]
    private static let tolerance = 1.15

    init(_ results: [RaceResult]) {
        ratios = Dictionary(uniqueKeysWithValues: results.map { ($0.name, ($0.ratio * 10).rounded() / 10) })
    }

    init(reading path: String) throws {
        self = try JSONDecoder().decode(Thresholds.self, from: Data(contentsOf: URL(filePath: path)))
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(filePath: path))
    }

    /// One line for each result that is over its threshold, or has none.
    func misses(_ results: [RaceResult]) -> [String] {
        results.compactMap { result in
            guard let threshold = ratios[result.name] else {
                return "\(result.name) has no threshold; add it with --write"
            }
            guard result.ratio > threshold * Self.tolerance else { return nil }
            let reached = String(format: "%.1f", result.ratio)
            return "\(result.name): \(reached) × memcpy, at most \(threshold) × and 15 % are allowed"
        }
    }
}
