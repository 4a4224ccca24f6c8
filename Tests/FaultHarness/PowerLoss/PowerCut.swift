import Glibc

/// Makes files and names what they might be after a power loss: all that was synced is there, the rest is not, or only
/// in part.
struct PowerCut {
    let log: PowerLog
    let roots: [String]
    /// What was lost, for people.
    private(set) var losses: [String] = []

    init(_ log: PowerLog, roots: [String]) {
        self.log = log
        self.roots = roots
    }

    /// - Parameter random: decides which of the names and bytes that were not synced reached the disk nevertheless. Names
    ///   do so in their order, as journals of file systems keep them.
    mutating func apply(_ random: inout SplitMix64) {
        let count = log.unsafe.count
        let kept = random.chance(0.5) ? 0 : Int.random(in: 0...count, using: &random)
        for change in log.unsafe.dropFirst(kept).reversed() { undo(change) }
        for root in roots {
            for file in Folder.files(root) { cut("\(root)/\(file)", &random) }
        }
    }

    private mutating func undo(_ change: PowerLog.Change) {
        switch change {
        case .rename(let from, let to, let backup):
            guard rename(to, from) == 0 else { return }
            if backup != "-" { link(backup, to) }
            losses.append("renamed back: \(to)")
        case .exchange(let one, let other):
            let aside = one + "-aside"
            guard rename(one, aside) == 0 else { return }
            rename(other, one)
            rename(aside, other)
            losses.append("exchanged back: \(other)")
        case .link(let to):
            unlink(to)
            losses.append("unlinked: \(to)")
        case .remove(let path, let backup):
            guard backup != "-", link(backup, path) == 0 else { return }
            losses.append("there again: \(path)")
        }
    }

    /// Bytes that were not synced are gone, or some of them.
    private mutating func cut(_ path: String, _ random: inout SplitMix64) {
        if path.hasSuffix("-shm") {
            // Never synced, and made anew by whoever opens the database first.
            unlink(path)
            return
        }
        guard let (inode, state) = PowerLog.state(path), log.safe[inode] != state, random.chance(0.85) else { return }
        let safe = min(log.safe[inode]?.size ?? 0, state.size)
        let length = random.chance(0.6) ? safe : Int.random(in: safe...state.size, using: &random)
        guard length < state.size, truncate(path, length) == 0 else { return }
        losses.append("cut from \(state.size) to \(length) bytes: \(path)")
    }
}
