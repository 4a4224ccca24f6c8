import Catalogs
import Glibc
package import JobModel
package import Planning
package import Scheduling

/// The regions of the pictures of a job, from the files that its filters name by `within: {from: …}`.
///
/// A file for all pictures is read once. A file of one picture is read when that picture is asked for.
package struct RegionLookup: Sendable {
    /// Read once, and the same for all pictures.
    private let lists: [RegionFile: RegionList]
    /// Messages show paths as they are seen from this folder.
    private let folder: String

    /// The largest file that is read, in bytes.
    private static let most = 256 << 20

    /// - Parameters:
    ///   - chain: all filters of the job and of its outputs.
    ///   - inputs: all pictures of the job.
    /// - Throws: ``FarmError`` if a file for all pictures cannot be used.
    package init(_ chain: [FilterInvocation], inputs: [InputFile], shownFrom folder: String) throws(FarmError) {
        self.folder = folder
        var lists: [RegionFile: RegionList] = [:]
        let paths = inputs.map(\.path)
        for file in Set(chain.compactMap(\.regionFile)).sorted(by: { $0.path < $1.path }) where !file.isOfEachPicture {
            let shown = PathText.shown(file.path, from: folder)
            let bytes: [UInt8]
            switch Self.read(file.path) {
            case .success(let contents): bytes = contents
            case .failure(let failure):
                throw FarmError(
                    .missingInput,
                    "\(shown): the file with regions cannot be read: \(failure.reason)\n   = name a JSON file that this user may read"
                )
            }
            do throws(RegionList.Problem) {
                let list = try RegionList(
                    bytes, options: file, folder: PathText.folder(of: file.path), inputs: paths)
                guard !list.isOfOnePicture else {
                    throw RegionList.Problem(
                        reason: "it names no pictures",
                        remedy: "write {\"photo.jpg\": […]}, or one file for each picture by a name with {stem}")
                }
                lists[file] = list
            } catch {
                throw FarmError(
                    .badManifest,
                    "\(shown): the file with regions cannot be used: \(error.reason)\n   = \(error.remedy)")
            }
        }
        self.lists = lists
    }

    /// The chain with the regions of one picture.
    ///
    /// - Throws: why the picture cannot be rendered: nobody knows what is to be changed in it.
    package func resolved(
        _ chain: [FilterInvocation], for input: InputFile
    ) throws(FrameFailure) -> [FilterInvocation] {
        var resolved: [FilterInvocation] = []
        for filter in chain {
            guard let file = filter.regionFile else {
                resolved.append(filter)
                continue
            }
            resolved.append(filter.limited(to: try regions(file, of: input)))
        }
        return resolved
    }

    /// The filters and outputs with the regions of one picture.
    func resolved(_ variant: FrameVariant, for input: InputFile) throws(FrameFailure) -> FrameVariant {
        var outputs: [JobOutput] = []
        for output in variant.outputs {
            var output = output
            output.chain = try resolved(output.chain, for: input)
            output.animation = try output.animation.map { (filter) throws(FrameFailure) in
                try resolved([filter], for: input)[0]
            }
            outputs.append(output)
        }
        return FrameVariant(chain: try resolved(variant.chain, for: input), outputs: outputs)
    }

    private func regions(_ file: RegionFile, of input: InputFile) throws(FrameFailure) -> RegionSet {
        let path = file.path(for: input)
        let (picture, shown) = (PathText.visible(input.path), PathText.shown(path, from: folder))
        let found: RegionList.Regions?
        var near: String?
        if let list = lists[file] {
            found = list.regions(of: input.path)
            near = list.nearName(of: input.path)
        } else {
            found = try ownRegions(file, at: path, of: input)
        }
        switch found {
        case .success(let regions): return regions
        case .failure(let problem):
            throw FrameFailure(.value, "\(picture): \(shown) \(problem.reason); \(problem.remedy)")
        case nil where file.unlisted == .none: return RegionSet([])
        case nil:
            let missing =
                file.isOfEachPicture ? "its regions are missing: there is no \(shown)" : "\(shown) does not list it"
            let hint = near.map { ", but \($0)" } ?? ""
            throw FrameFailure(
                .value,
                "\(picture): \(missing)\(hint); add it, with an empty list if nothing is to be changed, or write 'unlisted: none'"
            )
        }
    }

    /// Nil if the picture has no file.
    private func ownRegions(
        _ file: RegionFile, at path: String, of input: InputFile
    ) throws(FrameFailure) -> RegionList.Regions? {
        let shown = PathText.shown(path, from: folder)
        switch Self.read(path) {
        case .failure(let failure) where failure.isMissing: return nil
        case .failure(let failure):
            throw FrameFailure(
                .input, "\(PathText.visible(input.path)): \(shown) cannot be read: \(failure.reason)")
        case .success(let bytes):
            do throws(RegionList.Problem) {
                let list = try RegionList(
                    bytes, options: file, folder: PathText.folder(of: path), inputs: [input.path])
                return list.regions(of: input.path)
                    ?? .failure(RegionList.Problem(reason: "does not list it", remedy: "add it"))
            } catch {
                return .failure(
                    RegionList.Problem(reason: "cannot be used: \(error.reason)", remedy: error.remedy))
            }
        }
    }

    private struct ReadError: Error {
        let reason: String
        var isMissing = false

        /// - Parameter code: the error number of the system.
        init(code: Int32) {
            reason = String(cString: strerror(code)).lowercased()
            isMissing = code == ENOENT
        }

        init(_ reason: String) { self.reason = reason }
    }

    /// Waits for nobody: a pipe is no file.
    private static func read(_ path: String) -> Result<[UInt8], ReadError> {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return .failure(ReadError(code: errno)) }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { return .failure(ReadError(code: errno)) }
        guard found.st_mode & S_IFMT == S_IFREG else { return .failure(ReadError("it is no file")) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return .failure(ReadError(code: errno)) }
            guard count > 0 else { return .success(bytes) }
            bytes += buffer.prefix(count)
            if bytes.count > most { return .failure(ReadError("it has more than \(most >> 20) MiB")) }
        }
    }
}

extension FilterInvocation {
    /// The filter with these regions in place of the file.
    fileprivate func limited(to set: RegionSet) -> FilterInvocation {
        FilterInvocation(
            filter: filter,
            values: values.mapValues { if case .regionFile = $0 { .regions(set) } else { $0 } })
    }
}
