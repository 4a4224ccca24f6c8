/// Where the rows of a window begin: what a loop takes that reads several at once.
struct RowList<Value: BitwiseCopyable>: ~Copyable {
    private let memory: RowBuffer<UnsafePointer<Value>?>

    init(count: Int) { memory = RowBuffer(count: count) }

    var count: Int { memory.count }

    @inline(__always)
    func set(_ index: Int, _ row: Row<Value>) { memory[index] = row.pointer }

    /// - Precondition: the first `count` rows from `first` on are set.
    @inline(__always)
    func pointers(from first: Int = 0, count: Int) -> UnsafePointer<UnsafePointer<Value>> {
        precondition(first >= 0 && first + count <= memory.count, "a list has the rows that are read")
        let start = memory.start.pointer + first
        return UnsafeRawPointer(start).assumingMemoryBound(to: UnsafePointer<Value>.self)
    }
}

/// Likewise for what a loop writes.
struct MutableRowList<Value: BitwiseCopyable>: ~Copyable {
    private let memory: RowBuffer<UnsafeMutablePointer<Value>?>

    init(count: Int) { memory = RowBuffer(count: count) }

    @inline(__always)
    func set(_ index: Int, _ row: MutableRow<Value>) { memory[index] = row.pointer }

    /// - Precondition: the first `count` rows are set.
    @inline(__always)
    func pointers(count: Int) -> UnsafePointer<UnsafeMutablePointer<Value>> {
        precondition(count <= memory.count, "a list has the rows that are written")
        return UnsafeRawPointer(memory.start.pointer).assumingMemoryBound(to: UnsafeMutablePointer<Value>.self)
    }
}
