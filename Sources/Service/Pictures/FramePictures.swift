import Confinement
import Glibc
package import JobModel
import JobStorage
import Planning
package import Runs
import SafeFiles
package import Scheduling

/// Which picture of a frame.
package enum PictureSide: String, Hashable, Sendable, CaseIterable {
    /// The input, before the filters.
    case before
    /// The output, after the filters.
    case after
}

/// The pictures of a run's frames, found by run, frame and side. No caller names a path. All calls may block.
package struct FramePictures {
    private let archive: RunArchive
    private let unrecorded: UnrecordedFrames
    /// The folders of the caller's token. Nil if it may use all.
    private let reach: [String]?

    package init(_ archive: RunArchive, unrecorded: UnrecordedFrames, reach: [String]?) {
        self.archive = archive
        self.unrecorded = unrecorded
        self.reach = reach
    }

    /// A file on disk, and what is recorded of it.
    package struct Found: Hashable, Sendable {
        package let path: String
        /// The exact path if it is not UTF-8.
        package let bytes: [UInt8]?
        package let page: Int
        /// What the file is now.
        package let stamp: FileStamp
        /// What it was for the run. Nil if nothing is recorded: then it is shown as it is.
        package let recorded: FileFacts?
    }

    /// - Parameter output: which of the frame's outputs, from 0.
    /// - Throws: ``PictureError``, or an error of the database.
    package func picture(of id: FrameID, in run: RunStatus, _ side: PictureSide, output: Int) throws -> Found {
        guard let frame = try unrecorded.frame(id, of: run, in: archive) else {
            throw PictureError.missing(
                "the run has nothing recorded of frame \(FramePlace.text(id))\n   = its output may have been up to date: then the "
                    + "latest run of the job, or the run that rendered the picture, shows it")
        }
        return switch side {
        case .before: try input(of: frame, run)
        case .after: try self.output(output, of: frame, run)
        }
    }

    // MARK: Before

    private func input(of frame: StoredFrame, _ run: RunStatus) throws -> Found {
        let (bytes, stamp) = try status(ofInput: frame.input)
        return Found(
            path: frame.input, bytes: bytes, page: frame.page, stamp: stamp,
            recorded: try recordedInput(of: frame, run, stamp))
    }

    /// What the frame's outputs were made of. Nil for a frame without outputs.
    private func recordedInput(of frame: StoredFrame, _ run: RunStatus, _ stamp: FileStamp) throws -> FileFacts? {
        guard [.failed, .stillBroken].contains(frame.state.kind) else {
            for path in frame.outputs {
                guard let published = try archive.output(at: path, ofJobOf: run), isOf(published, frame, run),
                    published.record.input == frame.input, published.record.page == frame.page
                else { continue }
                return published.record.source
            }
            return nil
        }
        // An output at its path is of another run, which has rendered a repaired picture.
        let broken = try archive.broken(of: run).first { $0.input == frame.input && $0.page == frame.page }
        // Without a record, a later run has rendered the picture, or it failed for another reason.
        let isChanged =
            broken.map { !stamp.isUntouched(since: $0.stamp) }
            ?? (max(stamp.modified, stamp.changed) > run.stored.started)
        if isChanged { throw PictureError.missing(PictureOrder.changed) }
        return nil
    }

    /// A path that a run has stored for people may stand for other bytes: `%E9` for a byte that is not UTF-8.
    private func status(ofInput path: String) throws(PictureError) -> (bytes: [UInt8]?, stamp: FileStamp) {
        do throws(PictureError) {
            return (nil, try status(of: Array(path.utf8)))
        } catch {
            guard let bytes = NonUTF8Name.possibleBytes(of: path), InputFile(bytes: bytes, dir: "").path == path else {
                throw error
            }
            return (bytes, try status(of: bytes))
        }
    }

    // MARK: After

    private func output(_ index: Int, of frame: StoredFrame, _ run: RunStatus) throws -> Found {
        switch frame.state.kind {
        case .published, .skipped, .kept: break
        case .open: throw PictureError.missing("the frame is not rendered yet")
        case .failed, .stillBroken:
            throw PictureError.missing("the frame has failed, and has no output\n   = its attempts say why")
        case .left:
            throw PictureError.missing("the run has left the frame, and it has no output\n   = resume the run")
        }
        // An output that the run has kept has no path here.
        let outputs = frame.outputs.filter { !$0.isEmpty }
        guard outputs.indices.contains(index) else {
            throw PictureError.missing(
                "the frame has no output \(index + 1)\n   = it has \(outputs.count), counted from 1")
        }
        let path = outputs[index]
        guard let published = try archive.output(at: path, ofJobOf: run) else {
            throw PictureError.missing(
                "nothing is recorded of this output\n   = the next run of the job renders it again")
        }
        guard isOf(published, frame, run) else {
            let name = reach == nil ? published.run.map { ", \(VisibleText.line($0))," } ?? "" : ""
            throw PictureError.missing(
                "a later run\(name) has published this output again\n   = look at it there")
        }
        let stamp = try status(of: Array(path.utf8))
        // The first page of an output is what is shown of it.
        return Found(path: path, bytes: nil, page: 0, stamp: stamp, recorded: published.record.file)
    }

    /// Whether the output is the one that this run has published, or found up to date.
    private func isOf(_ published: RunArchive.PublishedOutput, _ frame: StoredFrame, _ run: RunStatus) -> Bool {
        frame.state.kind != .published || published.run == run.stored.name
    }

    // MARK: Files

    /// The stamp of a regular file within the caller's folders. Whatever else is there, the words are the same, so that they tell
    /// nothing of files outside.
    private func status(of path: [UInt8]) throws(PictureError) -> FileStamp {
        let file = (path + [0]).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                // A pipe is not waited for.
                text.baseAddress.map { open($0, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) } ?? -1
            }
        }
        guard file >= 0 else { throw unreadable }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, isReachable(file) else { throw unreadable }
        guard found.st_mode & S_IFMT == S_IFREG else {
            throw found.st_mode & S_IFMT == S_IFDIR
                ? .missing("the output is a folder of many pictures, and is not shown here") : unreadable
        }
        return FileStamp(found)
    }

    private var unreadable: PictureError {
        .missing(PictureOrder.gone + (reach == nil ? "" : ", or lies outside of the token's folders"))
    }

    /// The kernel says where the open file lies. Links in its path count for nothing.
    private func isReachable(_ file: Int32) -> Bool {
        guard let reach else { return true }
        // A folder that has gone holds nothing.
        guard let roots = try? RootCheck(reach) else { return false }
        let real = RealPath.resolve("/proc/self/fd/\(file)")
        return roots.outside([JobPath(origin: "the picture", path: real, access: .read)]).isEmpty
    }
}

extension PictureMaker {
    /// The source of a picture that is, for certain, what its run had. Its bytes are read if its stamp does not say so.
    ///
    /// - Parameters:
    ///   - roots: as in ``PictureSource``.
    ///   - owner: Who asks.
    package func source(
        of found: FramePictures.Found, roots: [String]?, for owner: PictureOwner
    ) async throws(PictureError) -> PictureSource {
        func source(_ content: PictureSource.Content) -> PictureSource {
            PictureSource(
                path: found.path, bytes: found.bytes, page: found.page, stamp: found.stamp, content: content,
                roots: roots)
        }
        guard let recorded = found.recorded else { return source(.stamp) }
        if found.stamp.isUntouched(since: recorded.stamp) { return source(.digest(recorded.digest)) }
        guard found.stamp.size == recorded.stamp.size,
            try await bytes(of: PictureOrder(source(.stamp), .digest), for: owner) == Array("\(recorded.digest)".utf8)
        else { throw .missing(PictureOrder.changed) }
        return source(.digest(recorded.digest))
    }

    package func facts(
        of source: PictureSource, for owner: PictureOwner
    ) async throws(PictureError) -> PictureFacts {
        let bytes = try await bytes(of: PictureOrder(source, .facts), for: owner)
        do {
            return try PictureFacts(json: bytes)
        } catch {
            throw .unavailable("the facts of the picture are not readable: \(error)")
        }
    }
}
