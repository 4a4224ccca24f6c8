import JobModel

/// Finds the frames whose outputs' names collide with those of others, or do not fit a file system.
///
/// One picture with an unlucky name must not cancel the night of all others: its frame fails, and the rest is rendered.
struct UnluckyNames {
    /// The outputs of frames that nothing was found against.
    private(set) var rest: [PlannedOutput]
    private(set) var problems: [PlannedOutput.Owner: PlanProblem] = [:]
    /// The problem that was found first.
    private(set) var first: PlanProblem?

    init(_ outputs: [PlannedOutput]) { rest = outputs }

    private mutating func refuse(_ found: [(PlannedOutput, PlanProblem)]) {
        guard !found.isEmpty else { return }
        for (output, problem) in found where problems[output.owner] == nil {
            problems[output.owner] = problem
            first = first ?? problem
        }
        rest.removeAll { problems[$0.owner] != nil }
    }

    /// Of all frames that would write to one path none does: nobody knows which is meant.
    mutating func refuseCollisions() {
        refuse(
            colliding { PathKey($0.path) }.flatMap { outputs in
                let inputs = outputs.map(\.input)
                let isOwn = Set(outputs.map(\.owner.index)).count == 1
                return outputs.map { output in
                    (
                        output,
                        isOwn
                            ? PlanProblem.ownCollision(output: output.path, input: output.input)
                            : .collision(output: output.path, inputs: inputs)
                    )
                }
            })
    }

    /// The same where a file system takes several names for one, as those that ignore case do: the names look alike, and what
    /// lies there is one file.
    mutating func refuseOneFile() {
        let groups = colliding { output in output.isFolder ? nil : output.stamp?.identity }
        refuse(
            groups.flatMap { outputs in
                // Swift's strings are equal however accents are encoded. Other names of one file are hard links.
                Dictionary(grouping: outputs) { $0.path.lowercased() }.values.filter { $0.count > 1 }.flatMap { alike in
                    alike.map { ($0, PlanProblem.oneFile(outputs: alike.map(\.path), inputs: alike.map(\.input))) }
                }
            })
    }

    /// Outputs that would lie in a folder that is an output itself.
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

    /// - Parameter name: the path that is written for an output.
    mutating func refuseLongNames(_ name: (String) -> String) {
        refuse(
            rest.compactMap { output in
                let path = name(output.path)
                return PathText.nameLength(of: path) > 255
                    ? (output, .nameTooLong(output: path, input: output.input)) : nil
            })
    }

    /// Receipts that do not fit, or take the place of another output.
    mutating func refuseReceipts() {
        refuseLongNames(ReceiptName.path(of:))
        let receipts = Set(rest.map { PathKey(ReceiptName.path(of: $0.path)) })
        refuse(
            rest.filter { receipts.contains(PathKey($0.path)) }.map { ($0, .receiptInTheWay(output: $0.path)) })
    }

    /// Outputs that have a key in common, in the order of the first one of each group.
    private func colliding<Key: Hashable>(_ key: (PlannedOutput) -> Key?) -> [[PlannedOutput]] {
        var places: [Key: Int] = [:]
        places.reserveCapacity(rest.count)
        var groups: [Int: [PlannedOutput]] = [:]
        for (place, output) in rest.enumerated() {
            guard let key = key(output) else { continue }
            guard let first = places[key] else {
                places[key] = place
                continue
            }
            groups[first, default: [rest[first]]].append(output)
        }
        return groups.sorted { $0.key < $1.key }.map(\.value)
    }
}
