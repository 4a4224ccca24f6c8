import JobModel
package import JobStorage
import Planning
package import SafeFiles

/// Writes the receipts that are missing or tell of other bytes, from what is known of the outputs.
package struct ReceiptRepair: Sendable {
    /// How many were written.
    package private(set) var written = 0
    /// Outputs that were published before enough was remembered of them.
    package private(set) var unknown: [String] = []
    /// Outputs beside which something else lies in the receipt's place.
    package private(set) var blocked: [String] = []
    /// Outputs whose receipts cannot be written, and why.
    package private(set) var refused: [(output: String, trouble: FileTrouble)] = []

    private enum Finding {
        case fine
        case write(Receipt)
        case unknown
        case blocked
    }

    private static let largestBatch = 256

    /// - Parameters:
    ///   - records: all of the job's.
    ///   - recipes: their texts.
    package init(
        _ records: [OutputRecord], recipes: [RecipeID: String], by maker: ReceiptMaker, directory: RunFolder
    ) throws {
        let known = recipes.compactMapValues(Recipe.init(text:))
        let findings = concurrentMap(records) { Self.finding(of: $0, known[$0.recipe], maker) }
        var missing: [(output: String, receipt: Receipt)] = []
        for (record, finding) in zip(records, findings) {
            switch finding {
            case .fine: break
            case .write(let receipt): missing.append((record.path, receipt))
            case .unknown: unknown.append(record.path)
            case .blocked: blocked.append(record.path)
            }
        }
        for start in stride(from: 0, to: missing.count, by: Self.largestBatch) {
            try write(Array(missing[start..<min(start + Self.largestBatch, missing.count)]), directory)
        }
    }

    private static func finding(of record: OutputRecord, _ recipe: Recipe?, _ maker: ReceiptMaker) -> Finding {
        guard !record.isAdopted, FileSystem.exists(record.path) else { return .fine }
        guard let recipe, let wanted = maker.receipt(of: record, recipe) else { return .unknown }
        switch ReceiptFile.look(beside: record.path) {
        case .nothing: return .write(wanted)
        case .foreign: return .blocked
        case .receipt(let found): return found.tellsTheSame(as: wanted) ? .fine : .write(wanted)
        }
    }

    /// All are on the disk before any is put in its place.
    private mutating func write(_ receipts: [(output: String, receipt: Receipt)], _ directory: RunFolder) throws {
        var (waiting, devices): ([(temporary: String, output: String)], Set<UInt64>) = ([], [])
        defer { for (temporary, _) in waiting { directory.removeTemporary(temporary) } }
        for (place, (output, receipt)) in receipts.enumerated() {
            let temporary = try directory.temporaryPath(in: PathText.folder(of: output), for: "receipt-\(place)")
            // A run that was gone on with may have been killed here.
            FileSystem.remove(temporary)
            do {
                try SafeFolder(FileSystem.folder(of: temporary), trusting: .everybody)
                    .create(PathNames.last(of: temporary), receipt.bytes)
                waiting.append((temporary, output))
            } catch {
                directory.removeTemporary(temporary)
                if error.concernsStorage { throw error }
                // Other folders' can be written.
                refused.append((output, error))
            }
        }
        for (_, output) in waiting {
            let folder = FileSystem.folder(of: output)
            guard devices.insert(FileSystem.stamp(folder)?.device ?? 0).inserted else { continue }
            try FileSystem.syncFileSystem(of: folder)
        }
        for (temporary, output) in waiting {
            if ReceiptFile.put(temporary, beside: output) { written += 1 } else { blocked.append(output) }
        }
    }
}
