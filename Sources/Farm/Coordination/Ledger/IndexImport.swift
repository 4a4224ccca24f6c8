import JobModel
import JobStorage
import SafeFiles

/// Brings a database up to date with indexes that know more than it does, because it was lost or is older.
struct IndexImport {
    let store: JobStore
    let job: JobID
    let compare: ComparePolicy
    /// All of the job's.
    let indexes: [OutputIndex]

    enum Outcome {
        /// The database knows all that the index knows, and the other way round.
        case alike
        /// The index lacks some of what the database knows: a power failure has cut it, or it came from a backup. The
        /// database does not know it then.
        case lacking
        /// The index knows more, and is not believed.
        case doubted(FileTrouble)
    }

    func takeIn(_ index: OutputIndex) throws -> Outcome {
        guard let mark = index.mark, try store.read({ try $0.indexMark(of: job, at: index.path) }) != mark else {
            return .alike
        }
        let (found, doubt) = try index.contents()
        let known = try store.read { try $0.outputs(of: job) }.map { (PathKey($0.path), $0) }
        if let doubt {
            return found.hasNews(beside: Dictionary(known) { $1 }, below: index.folder, by: compare)
                ? .doubted(doubt) : .alike
        }
        return try store.write { writer in
            let ids = try found.recipes.map { try writer.recipe($0) }
            var records = Dictionary(known) { $1 }
            var news: [OutputRecord] = []
            for output in found.outputs.values {
                let record = output.record(in: index.folder, recipe: ids[output.recipe], encodings: found.encodings)
                let key = PathKey(record.path)
                guard record.isNews(beside: records[key], by: compare) else { continue }
                records[key] = record
                news.append(record)
            }
            try writer.publish(news, job: job)
            let isWhole = !lacks(index, found, records.values, ids)
            if isWhole { try writer.setIndexMark(mark, of: job, at: index.path) }
            return isWhole ? .alike : .lacking
        }
    }

    private func lacks(
        _ index: OutputIndex, _ found: IndexContents, _ records: some Sequence<OutputRecord>, _ ids: [RecipeID]
    ) -> Bool {
        records.contains { record in
            guard indexes.holding(record.path) === index else { return false }
            let path = PathNames.relative(record.path, to: index.folder) ?? record.path
            guard let output = found.outputs[PathKey(path)] else { return true }
            return output.record(in: index.folder, recipe: ids[output.recipe], encodings: found.encodings) != record
        }
    }
}

extension [OutputIndex] {
    /// Of several whose folders hold a path the innermost.
    func holding(_ path: String) -> OutputIndex? {
        filter { PathNames.isBelow(path, $0.folder) }.max { $0.folder.utf8.count < $1.folder.utf8.count }
    }
}
