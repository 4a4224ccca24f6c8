import Catalogs
import Glibc
package import JobModel
package import Planning
import SafeFiles
import Reports
package import Scheduling
import Synchronization

/// The regions of the pictures of a job, from the files that its filters name by `within: {from: …}`.
///
/// A file for all pictures is read once. A file of one picture is read when that picture is asked for.
package struct RegionLookup: Sendable {
    /// The files for all pictures.
    private let lists: [RegionFile: RegionList]
    /// For each file of single pictures, the pictures that have it.
    private let owners: [RegionFile: [PathKey: [String]]]
    /// What was read for single pictures.
    private let seen = SeenFiles()
    /// Messages show paths as they are seen from this folder.
    private let folder: String

    /// The largest files that are read, for all pictures and for one picture, in bytes.
    private static let (most, mostOfOne) = (64 << 20, 4 << 20)

    /// - Parameters:
    ///   - chain: all filters of the job and of its outputs.
    ///   - inputs: all pictures of the job. Empty if they are not known: then files are only read.
    /// - Throws: ``FarmError`` if a file for all pictures cannot be used.
    package init(_ chain: [FilterInvocation], inputs: [InputFile], shownFrom folder: String) throws(FarmError) {
        var lists: [RegionFile: RegionList] = [:]
        var owners: [RegionFile: [PathKey: [String]]] = [:]
        for file in Set(chain.compactMap(\.regionFile)).sorted(by: { $0.path < $1.path }) {
            if file.isOfEachPicture {
                owners[file] = try Self.owners(of: file, inputs, folder)
            } else {
                lists[file] = try Self.list(file, inputs, folder)
            }
        }
        (self.lists, self.owners, self.folder) = (lists, owners, folder)
    }

    private static func owners(
        of file: RegionFile, _ inputs: [InputFile], _ folder: String
    ) throws(FarmError) -> [PathKey: [String]] {
        guard FileSystem.isFolder(file.fixedFolder) else {
            throw FarmError(
                .missingInput,
                "\(PathText.shown(file.fixedFolder, from: folder)): the folder of the files with regions is not there\n"
                    + "   = look for a misspelt name, or mount its disk")
        }
        return Dictionary(grouping: inputs) { PathKey(file.path(for: $0)) }.mapValues { $0.map(\.path) }
    }

    private static func list(
        _ file: RegionFile, _ inputs: [InputFile], _ folder: String
    ) throws(FarmError) -> RegionList {
        let shown = PathText.shown(file.path, from: folder)
        let bytes: [UInt8]
        switch read(file.path, most: most) {
        case .success(let contents): bytes = contents
        case .failure(let failure):
            throw FarmError(
                .missingInput,
                "\(shown): the file with regions cannot be read: \(failure.reason)\n   = name a JSON file that this user may read"
            )
        }
        do throws(RegionList.Problem) {
            let list = try RegionList(
                bytes, options: file, folder: PathText.folder(of: file.path), inputs: inputs.map(\.path))
            try refuse(list, of: file, isAlone: inputs.isEmpty)
            return list
        } catch {
            throw FarmError(
                .badManifest,
                "\(shown): the file with regions cannot be used: \(error.reason)\n   = \(error.remedy)")
        }
    }

    /// Refuses a file for all pictures that would leave all of them as they are, probably by mistake.
    private static func refuse(
        _ list: RegionList, of file: RegionFile, isAlone: Bool
    ) throws(RegionList.Problem) {
        guard !list.isOfOnePicture else {
            throw RegionList.Problem(
                reason: "it names no pictures",
                remedy: "write {\"photo.jpg\": […]}, or one file for each picture by a name with {stem}")
        }
        guard isAlone || list.isUsed else {
            throw RegionList.Problem(
                reason: list.unused.isEmpty
                    ? "it lists no pictures" : "it lists no picture of the job, but \(names(list.unused))",
                remedy: "write names that are the ends of the pictures' paths")
        }
        if let other = otherCategories(file, list.categories) {
            throw RegionList.Problem(
                reason: "none of its regions has the category \(other.wanted)",
                remedy: "its categories are \(other.found)")
        }
    }

    /// The first three of some names.
    private static func names(_ names: [String]) -> String {
        names.prefix(3).map { "'\(VisibleText.line($0))'" }.joined(separator: ", ") + (names.count > 3 ? ", …" : "")
    }

    /// Names in files that are probably misspelt. Where pictures may be unlisted, nothing else tells so.
    var hints: [String] {
        lists.sorted { $0.key.path < $1.key.path }.flatMap { file, list -> [String] in
            var hints: [String] = []
            let (shown, unused) = (PathText.shown(file.path, from: folder), list.unused)
            if file.unlisted == .none, !unused.isEmpty {
                hints.append(
                    "\(shown) lists \(Figures.plural(unused.count, "picture")) that the job does not have: \(Self.names(unused))"
                )
            }
            let missing = Set(file.categories).subtracting(list.categories).sorted()
            let others = list.categories.subtracting(file.categories).sorted()
            if !missing.isEmpty, !others.isEmpty {
                hints.append(
                    "\(shown) has no region of the category \(Self.names(missing)), and some of \(Self.names(others)), which nobody "
                        + "asks for")
            }
            return hints
        }
    }

    /// Refuses files of single pictures that leave all pictures as they are, probably by mistake.
    ///
    /// - Parameter input: a picture of the job. All of its pictures must have been looked up before.
    /// - Throws: ``FarmError`` if no picture has a file, or none of the files has a category that is asked for.
    func refuseIdle(_ input: InputFile?) throws(FarmError) {
        let seen = seen.categories.withLock { $0 }
        if let input, let file = owners.keys.first(where: { seen[$0] == nil && $0.unlisted == .none }) {
            throw FarmError(
                .missingInput,
                "\(PathText.shown(file.path(for: input), from: folder)): no picture of the job has a file with regions\n"
                    + "   = look for a misspelt name, or mount its disk")
        }
        for (file, found) in seen {
            guard let other = Self.otherCategories(file, found) else { continue }
            throw FarmError(
                .badManifest,
                "\(PathText.shown(file.path, from: folder)): none of the regions has the category \(other.wanted)\n"
                    + "   = the categories are \(other.found)")
        }
    }

    /// The categories that are wanted and those of a file, if it has none of the wanted ones. A misspelt name would leave all faces as they
    /// are.
    private static func otherCategories(
        _ file: RegionFile, _ found: Set<String>
    ) -> (wanted: String, found: String)? {
        guard !file.categories.isEmpty, !found.isEmpty, found.isDisjoint(with: file.categories) else { return nil }
        func words(_ names: some Sequence<String>) -> String {
            names.map { VisibleText.line($0) }.joined(separator: ", ")
        }
        return (words(file.categories), words(found.sorted()))
    }

    /// The chain with the regions of one picture.
    ///
    /// - Throws: the reason why the regions of the picture are unknown.
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
        try variant.mapping { chain throws(FrameFailure) in try resolved(chain, for: input) }
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
        let sharers = owners[file]?[PathKey(path)] ?? []
        switch Self.read(path, most: Self.mostOfOne) {
        case .failure(let failure) where failure.isMissing: return nil
        case .failure(let failure):
            throw FrameFailure(
                .input,
                "\(PathText.visible(input.path)): \(shown) cannot be read: \(failure.reason); name files that this user may read"
            )
        case .success(let bytes):
            do throws(RegionList.Problem) {
                let list = try RegionList(
                    bytes, options: file, folder: PathText.folder(of: path), inputs: sharers + [input.path])
                if list.isOfOnePicture, let other = sharers.first(where: { PathKey($0) != PathKey(input.path) }) {
                    return .failure(
                        RegionList.Problem(
                            reason: "may belong to this picture or to \(PathText.visible(other))",
                            remedy: "add {dir} or {ext} to the name of the files"))
                }
                seen.categories.withLock { $0[file, default: []].formUnion(list.categories) }
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

    /// Pipes are refused, because their writers may take any time.
    private static func read(_ path: String, most: Int) -> Result<[UInt8], ReadError> {
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

private final class SeenFiles: Sendable {
    /// The categories in files that were read.
    let categories = Mutex<[RegionFile: Set<String>]>([:])
}

extension FilterInvocation {
    /// The filter with these regions in place of the file.
    fileprivate func limited(to set: RegionSet) -> FilterInvocation {
        FilterInvocation(
            filter: filter,
            values: values.mapValues { if case .regionFile = $0 { .regions(set) } else { $0 } })
    }
}
