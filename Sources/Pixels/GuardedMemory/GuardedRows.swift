import Glibc
import Synchronization

/// Rows of bytes for code that is not trusted: behind the last one lies a page that may not be touched, and before the
/// first and between the rows a pattern that shows any write there.
///
/// Without slack the last byte ends at the page, so one byte too far is a fault at once. The memory is kept for the next
/// shape, and what a smaller one does not need lies before it: the pattern there ends after 256 bytes at most, and the page
/// that may not be touched comes before all of that. Used by one thread at a time.
package final class GuardedRows {
    /// The pattern's bytes between one row and the next, at least.
    private static let border = 32
    /// Rows begin at multiples of this, from the first.
    private static let alignment = 32
    /// What the pattern consists of, from the next shape on.
    package var pattern: UInt8 = 0xA5 { didSet { isNew = true } }
    private var isNew = true
    package private(set) var rows = 0
    package private(set) var rowBytes = 0
    /// Bytes from a row to the next.
    package private(set) var pitch = 0
    private var mapping: Mapping

    /// Throws ``OutOfMemoryError``.
    ///
    /// - Parameter slack: bytes between the last row and the page behind it, in which nothing shows.
    package init(slack: Int = 0) throws(OutOfMemoryError) {
        self.slack = slack
        mapping = try Mapping(bytes: 1 + slack)
    }

    private let slack: Int

    /// The system has no memory left.
    package struct OutOfMemoryError: Error, CustomStringConvertible {
        package let description = "there is no memory for a tile; lower 'workers' or raise the memory of the machine"
    }

    /// Makes room for so many rows, of whatever content, with the pattern around them: it is written where the shape is
    /// another one than before, and otherwise still there. If it is not, ``damage()`` reports it.
    package func reshape(rows: Int, rowBytes: Int) throws(OutOfMemoryError) {
        precondition(rows >= 0 && rowBytes >= 0, "memory has a size")
        guard isNew || rows != self.rows || rowBytes != self.rowBytes else { return }
        isNew = false
        (self.rows, self.rowBytes) = (rows, rowBytes)
        pitch = (rowBytes + Self.border + Self.alignment - 1) / Self.alignment * Self.alignment
        if total + slack > mapping.bytes { mapping = try Mapping(bytes: total + slack) }
        memset(start - lead, Int32(pattern), lead)
        for row in 0..<max(0, rows - 1) { memset(start + row * pitch + rowBytes, Int32(pattern), pitch - rowBytes) }
    }

    /// The first row's first byte; aligned as the number of bytes is.
    package var start: UnsafeMutableRawPointer { mapping.end - slack - total }

    private var total: Int { rows == 0 ? 0 : (rows - 1) * pitch + rowBytes }
    /// Bytes before the first row that carry the pattern. What lies before them was of a larger shape and is not checked.
    private var lead: Int { min(256, mapping.bytes - slack - total) }

    /// Sets every row to zeros.
    package func clear() {
        let (start, pitch, count) = (start, pitch, rowBytes)
        for index in 0..<rows { memset(start + index * pitch, 0, count) }
    }

    package func row(_ index: Int) -> UnsafeMutableRawPointer { start + index * pitch }

    /// Where the pattern was written over.
    package enum Damage: Hashable, Sendable {
        case beforeFirstRow
        case behindRow(Int)
    }

    /// Nil as long as all writes were inside the rows. What was written over is put right by the next shape.
    package func damage() -> Damage? {
        let damage = firstDamage()
        if damage != nil { isNew = true }
        return damage
    }

    private func firstDamage() -> Damage? {
        let lead = lead
        guard isIntact(start - lead, lead) else { return .beforeFirstRow }
        let (pitch, count) = (pitch, pitch - rowBytes)
        var address = start + rowBytes
        for row in 0..<max(0, rows - 1) {
            guard isIntact(address, count) else { return .behindRow(row) }
            address += pitch
        }
        return nil
    }

    /// Eight bytes at a time; the last ones overlap those before.
    private func isIntact(_ start: UnsafeMutableRawPointer, _ count: Int) -> Bool {
        guard count >= 8 else {
            return UnsafeRawBufferPointer(start: start, count: count).allSatisfy { $0 == pattern }
        }
        let whole = UInt64(pattern) &* 0x0101_0101_0101_0101
        var difference = start.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self) ^ whole
        for offset in stride(from: 0, to: count - 8, by: 8) {
            difference |= start.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ whole
        }
        return difference == 0
    }
}

/// Pages with a forbidden one on each side.
private final class Mapping {
    private static let page = Int(getpagesize())

    /// That may be used.
    let bytes: Int
    private let address: UnsafeMutableRawPointer

    init(bytes: Int) throws(GuardedRows.OutOfMemoryError) {
        let usable = (max(1, bytes) + Self.page - 1) / Self.page * Self.page
        let whole = usable + 2 * Self.page
        guard let address = mmap(nil, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            address != MAP_FAILED
        else { throw GuardedRows.OutOfMemoryError() }
        self.address = address
        self.bytes = usable
        guard mprotect(address, Self.page, PROT_NONE) == 0, mprotect(end, Self.page, PROT_NONE) == 0 else {
            throw GuardedRows.OutOfMemoryError()
        }
    }

    deinit { munmap(address, bytes + 2 * Self.page) }

    /// Behind the last byte that may be used.
    var end: UnsafeMutableRawPointer { address + Self.page + bytes }
}

/// Guarded memory that is used again, so that a call costs no system call. Any number of threads may use it at once.
package final class GuardedPool: Sendable {
    /// Sources and targets of one shape lie at other places of their pages: CPUs take a read for one of what was written
    /// just before when the last twelve bits of their addresses are the same, and wait.
    private static let distance = 2048

    // Mutex hands memory out to one user at a time; it comes back when that one is done.
    private let idle = Mutex<[Memory]>([])

    /// What one call works with.
    package struct Memory: @unchecked Sendable {
        // Sendable: only `with` has it, from the moment when it is taken out of the pool until it is put back.
        package let source: GuardedRows
        package let target: GuardedRows
        /// One row, for what a plugin says.
        package let text: GuardedRows

        fileprivate init() throws(GuardedRows.OutOfMemoryError) {
            source = try GuardedRows(slack: distance)
            target = try GuardedRows()
            text = try GuardedRows()
        }
    }

    package init() {}

    /// Lends memory, of whatever shape and content.
    package func with<Result>(_ body: (Memory) throws -> Result) throws -> Result {
        let memory = try idle.withLock { $0.popLast() } ?? Memory()
        defer { idle.withLock { $0.append(memory) } }
        return try body(memory)
    }
}
