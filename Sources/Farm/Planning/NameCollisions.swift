import JobModel

/// Finds the real locations of paths, whatever links and mounts are above them. Inspects every folder once.
private struct ResolvedPaths {
    struct Location: Hashable {
        /// Nil if the folder does not exist yet.
        let folder: FileStamp.Identity?
        /// The folder's path, if it does not exist yet.
        let path: PathKey?
        let name: PathKey
    }

    private var known: [PathKey: (FileStamp.Identity?, PathKey?)] = [:]
    /// The folder of the path before, with what is known of it: neighbours are mostly in one folder.
    private var last: (folder: PathKey, found: (FileStamp.Identity?, PathKey?))?

    mutating func location(of path: String) -> Location {
        let folder = PathText.folder(of: path)
        let key = PathKey(folder)
        let (identity, real) = last?.folder == key ? last?.found ?? (nil, nil) : known[key] ?? inspect(folder)
        last = (key, (identity, real))
        return Location(folder: identity, path: real, name: PathKey(PathText.name(of: path)))
    }

    private mutating func inspect(_ folder: String) -> (FileStamp.Identity?, PathKey?) {
        let identity = FileStamp(of: folder)?.identity
        let found = (identity, identity == nil ? PathKey(realPath(folder)) : nil)
        known[PathKey(folder)] = found
        return found
    }
}

/// Finds the frames whose outputs' names collide with others, or do not fit a file system.
///
/// One picture with a bad name does not stop the whole job: its frame fails, and the others are rendered.
struct NameCollisions {
    /// The outputs of frames without a problem.
    private(set) var rest: [PlannedOutput]
    private(set) var problems: [PlannedOutput.Owner: PlanError] = [:]
    /// The frames with problems, in the order in which they were found.
    private var order: [PlannedOutput.Owner] = []

    /// The first problem that was found.
    var first: PlanError? { order.lazy.compactMap { problems[$0] }.first }

    init(_ outputs: [PlannedOutput]) { rest = outputs }

    mutating func refuse(_ found: [(PlannedOutput, PlanError)]) {
        guard !found.isEmpty else { return }
        for (output, problem) in found where problems[output.owner] == nil {
            problems[output.owner] = problem
            order.append(output.owner)
        }
        rest.removeAll { problems[$0.owner] != nil }
    }

    /// Removes the outputs of frames that are not rendered. They were here so that others could collide with them.
    mutating func keep(_ owners: Set<PlannedOutput.Owner>) {
        rest.removeAll { !owners.contains($0.owner) }
        problems = problems.filter { owners.contains($0.key) }
    }

    /// Refuses all frames that would write to the same path, because it is unknown which of them is meant.
    mutating func refuseCollisions() {
        var paths = ResolvedPaths()
        refuse(
            colliding { paths.location(of: $0.path) }.flatMap { outputs in
                guard Set(outputs.map { PathKey($0.path) }).count == 1 else { return Self.oneFile(outputs) }
                let inputs = outputs.map(\.input)
                let isOwn = Set(outputs.map(\.owner.index)).count == 1
                return outputs.map { output in
                    (
                        output,
                        isOwn
                            ? PlanError.ownCollision(output: output.path, input: output.input)
                            : .collision(output: output.path, inputs: inputs)
                    )
                }
            })
    }

    /// Refuses outputs that a file system takes for one file, for example because it ignores case: the names look
    /// alike, and they lead to one file.
    mutating func refuseOneFile() {
        guard rest.contains(where: { $0.stamp != nil }) else { return }
        let groups = colliding { output in output.isFolder ? nil : output.stamp?.identity }
        refuse(
            groups.flatMap { outputs in
                // Swift's strings are equal however accents are encoded. Different names of one file are hard links.
                Dictionary(grouping: outputs) { $0.path.lowercased() }.values.filter { $0.count > 1 }.flatMap(
                    Self.oneFile)
            })
    }

    private static func oneFile(_ outputs: [PlannedOutput]) -> [(PlannedOutput, PlanError)] {
        outputs.map { ($0, .oneFile(outputs: outputs.map(\.path), inputs: outputs.map(\.input))) }
    }

    /// Refuses outputs that are files at the path of a folder that another output needs.
    mutating func refuseFilesAsFolders() {
        // The folders, each with the first output that needs it. They are few, and the outputs are many.
        var (seen, needs): (Set<PathKey>, [(folder: String, output: String)]) = ([], [])
        var last: PathKey?
        for output in rest {
            var above = PathText.folder(of: output.path)
            guard last != PathKey(above) else { continue }
            last = PathKey(above)
            while above != "/", seen.insert(PathKey(above)).inserted {
                needs.append((above, output.path))
                above = PathText.folder(of: above)
            }
        }
        let files = Dictionary(
            rest.lazy.filter { !$0.isFolder && seen.contains(PathKey($0.path)) }.map { (PathKey($0.path), $0) }
        ) { first, _ in first }
        refuse(
            needs.compactMap { folder, output in
                files[PathKey(folder)].map { ($0, .folderOfAnother(output: folder, other: output)) }
            })
    }

    /// Refuses outputs that would be inside a folder that is an output itself.
    mutating func refuseInsideFolders() {
        let folders = Set(rest.lazy.filter(\.isFolder).map { PathKey($0.path) })
        guard !folders.isEmpty else { return }
        refuse(
            rest.compactMap { output in
                var above = PathText.folder(of: output.path)
                while above != "/" {
                    if folders.contains(PathKey(above)) {
                        return (output, .insideOutput(output: output.path, folder: above))
                    }
                    above = PathText.folder(of: above)
                }
                return nil
            })
    }

    /// - Parameter name: Gives the path that is written for an output.
    mutating func refuseLongNames(_ name: (String) -> String) {
        refuse(
            rest.compactMap { output in
                let path = name(output.path)
                return PathText.nameLength(of: path) > 255
                    ? (output, .nameTooLong(output: path, input: output.input)) : nil
            })
    }

    /// Refuses receipts with a name that is too long, or with the path of another output.
    mutating func refuseReceipts() {
        refuseLongNames(ReceiptName.path(of:))
        let receipts = Set(rest.map { PathKey(ReceiptName.path(of: $0.path)) })
        refuse(
            rest.filter { receipts.contains(PathKey($0.path)) }.map { ($0, .receiptInTheWay(output: $0.path)) })
    }

    /// Outputs that share a key, in the order of the first output of each group.
    private func colliding<Key: Hashable>(_ key: (PlannedOutput) -> Key?) -> [[PlannedOutput]] {
        var firstIndices: [Key: Int] = [:]
        firstIndices.reserveCapacity(rest.count)
        var groups: [Int: [PlannedOutput]] = [:]
        for (index, output) in rest.enumerated() {
            guard let key = key(output) else { continue }
            guard let first = firstIndices[key] else {
                firstIndices[key] = index
                continue
            }
            groups[first, default: [rest[first]]].append(output)
        }
        return groups.sorted { $0.key < $1.key }.map(\.value)
    }
}
