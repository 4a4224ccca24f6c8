import Geometry

/// A position in memory from which a loop reads values. It is valid during a call.
///
/// It moves as a pointer does, but not beyond its memory: a wrong offset stops the process. Loops of `RowKernels` take the
/// pointer.
struct Row<Value: BitwiseCopyable> {
    let pointer: UnsafePointer<Value>
    /// The number of values before the pointer, and the number from it on.
    private let before: Int
    let count: Int

    fileprivate init(_ pointer: UnsafePointer<Value>, before: Int, count: Int) {
        (self.pointer, self.before, self.count) = (pointer, before, count)
    }

    init(_ row: MutableRow<Value>) { self.init(UnsafePointer(row.pointer), before: row.before, count: row.count) }

    /// The pointer, if `count` values follow it.
    @inline(__always) func pointer(for count: Int) -> UnsafePointer<Value> {
        precondition(count <= self.count, "a row has the values that are read")
        return pointer
    }

    @inline(__always) static func + (row: Row, offset: Int) -> Row {
        precondition(offset >= -row.before && offset <= row.count, "a row moves within its memory")
        return row.moved(unchecked: offset)
    }

    @inline(__always) static func - (row: Row, offset: Int) -> Row { row + -offset }

    /// Moves without a bounds check: for offsets that follow from the size of the memory, in loops over pixels or large
    /// windows.
    @inline(__always) func moved(unchecked offset: Int) -> Row {
        Row(pointer + offset, before: before &+ offset, count: count &- offset)
    }

    @inline(__always) subscript(index: Int) -> Value {
        precondition(index >= 0 && index < count, "an index lies in its row")
        return pointer[index]
    }

    /// Reads without a bounds check: for loops over pixels whose ends are known to lie in the row.
    @inline(__always) subscript(unchecked index: Int) -> Value { pointer[index] }
}

/// A position in memory to which a loop writes; see ``Row``.
struct MutableRow<Value: BitwiseCopyable> {
    let pointer: UnsafeMutablePointer<Value>
    fileprivate let before: Int
    let count: Int

    /// - Parameters:
    ///   - before: the number of values of the memory before the pointer.
    ///   - count: the number of values from the pointer on.
    init(_ pointer: UnsafeMutablePointer<Value>, before: Int, count: Int) {
        (self.pointer, self.before, self.count) = (pointer, before, count)
    }

    /// The pointer, if `count` values follow it.
    @inline(__always) func pointer(for count: Int) -> UnsafeMutablePointer<Value> {
        precondition(count <= self.count, "a row has room for the values that are written")
        return pointer
    }

    @inline(__always) static func + (row: MutableRow, offset: Int) -> MutableRow {
        precondition(offset >= -row.before && offset <= row.count, "a row moves within its memory")
        return row.moved(unchecked: offset)
    }

    @inline(__always) static func - (row: MutableRow, offset: Int) -> MutableRow { row + -offset }

    /// Moves without a bounds check: for offsets that follow from the size of the memory, in loops over pixels or large
    /// windows.
    @inline(__always) func moved(unchecked offset: Int) -> MutableRow {
        MutableRow(pointer + offset, before: before &+ offset, count: count &- offset)
    }

    @inline(__always) subscript(index: Int) -> Value {
        get {
            precondition(index >= 0 && index < count, "an index lies in its row")
            return pointer[index]
        }
        nonmutating set {
            precondition(index >= 0 && index < count, "an index lies in its row")
            pointer[index] = newValue
        }
    }

    /// Accesses a value without a bounds check: for loops over pixels whose ends are known to lie in the row.
    @inline(__always) subscript(unchecked index: Int) -> Value {
        get { pointer[index] }
        nonmutating set { pointer[index] = newValue }
    }

    func update(from other: Row<Value>, count: Int) {
        pointer(for: count).update(from: other.pointer(for: count), count: count)
    }

    func update(repeating value: Value, count: Int) { pointer(for: count).update(repeating: value, count: count) }

    /// The same memory as values of another type of equal size.
    func bits<Other: BitwiseCopyable>(as _: Other.Type) -> MutableRow<Other> {
        precondition(MemoryLayout<Other>.stride == MemoryLayout<Value>.stride, "both types have the same size")
        return MutableRow<Other>(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: Other.self), before: before, count: count)
    }
}

extension MutableRow {
    /// The same memory as bytes.
    var bytes: MutableRow<UInt8> {
        let size = MemoryLayout<Value>.stride
        return MutableRow<UInt8>(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: UInt8.self), before: before * size,
            count: count * size)
    }
}

/// The rows that running sums along columns need: the row that enters a window, the one that leaves it, and those outside.
struct SlidingRows<Value: BitwiseCopyable> {
    let entering: Row<Value>
    let leaving: Row<Value>
    let above: Row<Value>
    let below: Row<Value>
}

extension Array where Element: BitwiseCopyable {
    func withRow(_ body: (Row<Element>) -> Void) {
        withUnsafeBufferPointer { buffer in
            // An empty array has no address.
            guard let base = buffer.baseAddress else {
                let nothing = RowBuffer<Element>(count: 0)
                return body(Row(nothing.start))
            }
            body(Row(base, before: 0, count: buffer.count))
        }
    }

    /// Lends the elements of an array that is not empty.
    mutating func withMutableRow(_ body: (MutableRow<Element>) -> Void) {
        withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            body(MutableRow(base, before: 0, count: buffer.count))
        }
    }
}

/// Memory for one row or several. It is zeroed, aligned to a cache line, and freed with the value.
struct RowBuffer<Value: BitwiseCopyable>: ~Copyable {
    let count: Int
    private let base: UnsafeMutablePointer<Value>

    init(count: Int) {
        let bytes = (count * MemoryLayout<Value>.stride + 63) & ~63
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        base = memory.assumingMemoryBound(to: Value.self)
        self.count = count
    }

    deinit { UnsafeMutableRawPointer(base).deallocate() }

    /// All values, from the first one on. The result must not outlive the buffer.
    @inline(__always)
    var start: MutableRow<Value> { MutableRow(base, before: 0, count: count) }

    @inline(__always) subscript(index: Int) -> Value {
        get { start[index] }
        nonmutating set { start[index] = newValue }
    }

    /// Accesses a value without a bounds check: for loops over pixels whose ends are known to lie in the buffer.
    @inline(__always) subscript(unchecked index: Int) -> Value {
        get { base[index] }
        nonmutating set { base[index] = newValue }
    }
}

/// Memory for a row of pixels in single precision: a plane for each channel, each followed by space for whole vectors.
struct PlaneBuffer: ~Copyable {
    private let columns: Range<Int>
    private let channels: Int
    private let stride: Int
    private let values: RowBuffer<Float>

    /// - Parameter columns: the coordinates of the row's pixels.
    init(_ columns: Range<Int>, channels: Int) {
        (self.columns, self.channels) = (columns, channels)
        stride = (columns.count + 63) & ~31
        values = RowBuffer(count: stride * channels)
    }

    var planeStride: Int { stride }

    func plane(_ channel: Int) -> MutableRow<Float> { values.start + channel * stride }

    /// All planes, as a row of the picture.
    func row(_ y: Int, _ operations: RowOperations) -> PlaneRow {
        PlaneRow(
            values.start, stride: stride, count: columns.count, channels: channels, x: columns.lowerBound, y: y,
            operations)
    }
}

/// The starts of a window's rows, for loops that read several rows at once.
struct RowList<Value: BitwiseCopyable>: ~Copyable {
    private let memory: RowBuffer<UnsafePointer<Value>?>

    init(count: Int) { memory = RowBuffer(count: count) }

    var count: Int { memory.count }

    @inline(__always) func set(_ index: Int, _ row: Row<Value>) { memory[index] = row.pointer }

    /// - Precondition: the `count` rows from `first` on are set.
    @inline(__always) func pointers(from first: Int = 0, count: Int) -> UnsafePointer<UnsafePointer<Value>> {
        precondition(first >= 0 && first + count <= memory.count, "a list has the rows that are read")
        let start = memory.start.pointer + first
        return UnsafeRawPointer(start).assumingMemoryBound(to: UnsafePointer<Value>.self)
    }
}

/// The starts of a window's rows that a loop writes.
struct MutableRowList<Value: BitwiseCopyable>: ~Copyable {
    private let memory: RowBuffer<UnsafeMutablePointer<Value>?>

    init(count: Int) { memory = RowBuffer(count: count) }

    @inline(__always) func set(_ index: Int, _ row: MutableRow<Value>) { memory[index] = row.pointer }

    /// - Precondition: the first `count` rows are set.
    @inline(__always) func pointers(count: Int) -> UnsafePointer<UnsafeMutablePointer<Value>> {
        precondition(count <= memory.count, "a list has the rows that are written")
        return UnsafeRawPointer(memory.start.pointer).assumingMemoryBound(to: UnsafeMutablePointer<Value>.self)
    }
}
