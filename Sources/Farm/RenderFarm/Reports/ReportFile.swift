import Coordination
import FoundationEssentials
import Glibc
package import JobModel
import Planning
import Reports
import Runs
import SafeFiles

/// A file that says what runs did: written aside and renamed, and never in place of a file that Penumbra did not write.
package struct ReportFile {
    package enum Kind {
        case page
        case metrics
        /// Of this job.
        case index(job: String)

        fileprivate var ending: String {
            switch self {
            case .page: ".html"
            case .metrics: ".prom"
            case .index: ".json"
            }
        }

        fileprivate var option: String {
            switch self {
            case .page: "--report"
            case .metrics: "--metrics"
            case .index: "index"
            }
        }

        fileprivate func isOurs(_ head: [UInt8]) -> Bool {
            let text = String(decoding: head, as: UTF8.self)
            return switch self {
            case .page: text.contains(#"<meta name="generator" content="Penumbra">"#)
            case .metrics: text.hasPrefix("# HELP penumbra_")
            case .index: AssetIndex.isOurs(head)
            }
        }

        /// The other job whose file it is.
        fileprivate func otherOwner(_ head: [UInt8]) -> String? {
            guard case .index(let job) = self, let owner = AssetIndex.job(in: head), owner != job else { return nil }
            return owner
        }
    }

    /// Absolute.
    let path: String
    let kind: Kind
    /// As it was given.
    private let shown: String

    /// Before anything starts.
    ///
    /// - Throws: when the file cannot be written there, or another one would be lost.
    package init(_ path: String, _ kind: Kind, in folder: String) throws(FarmError) {
        self.path = PathText.normalized(path, in: folder)
        self.kind = kind
        guard path.lowercased().hasSuffix(kind.ending) else {
            throw FarmError(.usage, "\(kind.option): '\(path)' does not end in \(kind.ending)")
        }
        shown = path
        try refuseForeign()
    }

    private func refuseForeign() throws(FarmError) {
        guard let head = try head() else { return }
        guard kind.isOurs(head) else {
            throw FarmError(
                .badManifest,
                "\(kind.option): \(shown) is there, and Penumbra did not write it\n   = take another name, or remove it"
            )
        }
        guard let owner = kind.otherOwner(head) else { return }
        throw FarmError(
            .badManifest,
            "\(kind.option): \(shown) is the index of the job '\(owner)'\n   = give each job an index of its own; if that job "
                + "is no more, or has a new name, remove the file")
    }

    /// Nil when there is no file.
    private func head() throws(FarmError) -> [UInt8]? {
        guard let file = fopen(path, "r") else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FarmError(.storage, "\(kind.option): \(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }

    /// The whole text of the last one; empty when there is none.
    var contents: [UInt8] {
        // Whoever needs it knows what to do without it.
        (try? Data(contentsOf: URL(filePath: path))).map(Array.init) ?? []
    }

    /// Leaves a file alone that says the same already, and one that somebody else has put there meanwhile.
    ///
    /// - Parameter directory: whose journal knows what is written aside.
    func write(_ bytes: [UInt8], _ directory: RunClaim) throws {
        try write(bytes) { try directory.temporaryPath(in: PathText.folder(of: path), for: "report") }
    }

    /// The same without a run. What a kill leaves aside is overwritten the next time.
    func writeUnstarted(_ bytes: [UInt8]) throws {
        try write(bytes) { "\(PathText.folder(of: path))/.penumbra-\(PathText.name(of: path))-unstarted" }
    }

    private func write(_ bytes: [UInt8], aside: () throws -> String) throws {
        guard contents != bytes else { return }
        try refuseForeign()
        do {
            try AtomicFile.write(bytes, to: path, by: try aside())
        } catch let trouble as FileTrouble {
            throw FarmError(.storage, "\(kind.option): \(trouble.message)")
        }
    }
}
