import Glibc
import Synchronization

/// Rows of bytes for untrusted code. A forbidden page follows the last row. A pattern before the first row and between rows
/// reveals writes there.
///
/// Without slack the last byte ends at the page, so that a single byte beyond it causes a fault. The memory is reused for the
/// next shape. A smaller shape leaves unused memory before the rows: the pattern covers at most 256 bytes of it, and a
/// forbidden page precedes all memory. One thread at a time may use it.
package final class GuardedRows {
    /// The smallest number of pattern bytes between two rows.
    private static let border = 32
    /// Rows begin at multiples of this number, counted from the first row.
    private static let alignment = 32
    /// The value of the pattern's bytes, from the next shape on.
    package var pattern: UInt8 = 0xA5 { didSet { isNew = true } }
    private var isNew = true
    /// Whether every row is zeros since ``drain(_:)``, and was not lent since.
    private var isClear = false
    package private(set) var rows = 0
    package private(set) var rowBytes = 0
    /// The number of bytes from one row to the next.
    package private(set) var pitch = 0
    private var mapping: Mapping

    /// Throws ``OutOfMemoryError``.
    ///
    /// - Parameter slack: the number of unchecked bytes between the last row and the page after it.
    package init(slack: Int = 0) throws(OutOfMemoryError) {
        self.slack = slack
        mapping = try Mapping(bytes: 1 + slack)
    }

    private let slack: Int

    /// The system has no memory left.
    package struct OutOfMemoryError: Error, CustomStringConvertible {
        package let description = "there is no memory for a tile; lower 'workers' or raise the memory of the machine"
    }

    /// Provides rows of a size, with arbitrary content and the pattern around them. The pattern is only written if the shape
    /// has changed. If an unchanged pattern was overwritten, ``damage()`` reports it.
    package func reshape(rows: Int, rowBytes: Int) throws(OutOfMemoryError) {
        precondition(rows >= 0 && rowBytes >= 0, "memory has a size")
        guard isNew || rows != self.rows || rowBytes != self.rowBytes else { return }
        (isNew, isClear) = (false, false)
        (self.rows, self.rowBytes) = (rows, rowBytes)
        pitch = (rowBytes + Self.border + Self.alignment - 1) / Self.alignment * Self.alignment
        if total + slack > mapping.bytes { mapping = try Mapping(bytes: total + slack) }
        memset(start - lead, Int32(pattern), lead)
        for row in 0..<max(0, rows - 1) { memset(start + row * pitch + rowBytes, Int32(pattern), pitch - rowBytes) }
    }

    /// The first row's first byte. Its alignment is that of the number of bytes.
    package var start: UnsafeMutableRawPointer { mapping.end - slack - total }

    private var total: Int { rows == 0 ? 0 : (rows - 1) * pitch + rowBytes }
    /// The number of pattern bytes before the first row. Memory before them belonged to a larger shape and is not checked.
    private var lead: Int { min(256, mapping.bytes - slack - total) }

    /// Sets every row to zeros before it is lent, unless ``drain(_:)`` has done it.
    package func clear() {
        defer { isClear = false }
        guard !isClear else { return }
        let (start, pitch, count) = (start, pitch, rowBytes)
        for index in 0..<rows { memset(start + index * pitch, 0, count) }
    }

    /// Hands every row over, and then sets it to zeros. The row is in the fastest cache at that time, so that this costs less
    /// than to clear all rows before the next call.
    package func drain(_ take: (_ index: Int, _ row: UnsafeRawPointer) -> Void) {
        let (start, pitch, count) = (start, pitch, rowBytes)
        for index in 0..<rows {
            let row = start + index * pitch
            take(index, UnsafeRawPointer(row))
            memset(row, 0, count)
        }
        isClear = true
    }

    package func row(_ index: Int) -> UnsafeMutableRawPointer { start + index * pitch }

    /// The place where the pattern was overwritten.
    package enum Damage: Hashable, Sendable {
        case beforeFirstRow
        case behindRow(Int)
    }

    /// Nil if all writes were inside the rows. The next shape repairs the pattern.
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

    /// Compares eight bytes at a time. The last eight overlap those before.
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

/// Pages with a forbidden page on each side.
private final class Mapping {
    private static let page = Int(getpagesize())

    /// The number of usable bytes.
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

    /// The address after the last usable byte.
    var end: UnsafeMutableRawPointer { address + Self.page + bytes }
}

/// A pool of guarded memory, so that a call needs no system call. Several threads may use it at once.
package final class GuardedPool: Sendable {
    /// The offset between sources and targets of one shape. If the last twelve bits of two addresses are equal, CPUs confuse a
    /// read with a recent write, and wait.
    private static let distance = 2048

    // A mutex lends memory to one user at a time, until it is returned.
    private let idle = Mutex<[Memory]>([])

    /// The memory of one call.
    package struct Memory: @unchecked Sendable {
        // Sendable: only `with` has it, from the time when it is taken from the pool until it is returned.
        package let source: GuardedRows
        package let target: GuardedRows
        /// One row, for the plugin's message.
        package let text: GuardedRows

        fileprivate init() throws(GuardedRows.OutOfMemoryError) {
            source = try GuardedRows(slack: distance)
            target = try GuardedRows()
            text = try GuardedRows()
        }
    }

    package init() {}

    /// Lends memory of arbitrary shape and content.
    package func with<Result>(_ body: (Memory) throws -> Result) throws -> Result {
        let memory = try idle.withLock { $0.popLast() } ?? Memory()
        defer { idle.withLock { $0.append(memory) } }
        return try body(memory)
    }
}
