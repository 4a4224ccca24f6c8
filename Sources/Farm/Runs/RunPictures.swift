import JobModel
package import JobStorage
package import Scheduling

/// What the database knows of the pictures of one frame.
extension RunArchive {
    /// A frame of a run. Nil if the run had nothing to do with it, or is not recorded any more.
    package func frame(_ id: FrameID, of run: RunStatus) throws -> StoredFrame? {
        guard !isShared(run) else { return try details(of: run).frames.first { $0.id == id } }
        let next = try store?.read { reader in
            try reader.frames(of: run.stored.id, after: (id.number, id.page - 1), state: nil, limit: 1)
        }
        return next?.first { $0.id == id }
    }

    /// When the last output of a frame was published in this run. Nil if none was.
    package func publicationTime(of id: FrameID, in run: RunStatus) throws -> Int64? {
        guard !isShared(run) else { return try details(of: run).publicationTimes[id] }
        let found = try store?.read { try $0.publications(of: run.stored.id, numbers: id.number...id.number) } ?? []
        return Self.times(of: found)[id]
    }

    /// The record of one output, and the run that published it last.
    package struct PublishedOutput: Hashable, Sendable {
        package let record: OutputRecord
        /// The name of the run. Nil if the runs that published it are not recorded any more.
        package let run: String?
    }

    /// The output at a path, as the job of a run published it last. Nil if nothing is recorded.
    package func output(at path: String, ofJobOf run: RunStatus) throws -> PublishedOutput? {
        try store?.read { reader in
            let owned = try reader.outputs(at: path).first {
                $0.job == run.stored.job && $0.manifest == run.stored.manifest
            }
            guard let record = owned?.record else { return nil }
            return PublishedOutput(record: record, run: try reader.latestPublisher(of: path))
        }
    }
}
