import Geometry

/// Memory for a row, or for some: zeros at first, aligned to a cache line, freed with the value.
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

    /// All values, from the first one on. Not to be kept longer than the buffer.
    @inline(__always)
    var start: MutableRow<Value> { MutableRow(base, before: 0, count: count) }

    @inline(__always)
    subscript(index: Int) -> Value {
        get { start[index] }
        nonmutating set { start[index] = newValue }
    }

    /// For loops over pixels whose ends are known to lie in the buffer.
    @inline(__always)
    subscript(unchecked index: Int) -> Value {
        get { base[index] }
        nonmutating set { base[index] = newValue }
    }
}

/// Memory for a row of pixels in single precision, a plane for each channel, with room for whole vectors behind each.
struct PlaneBuffer: ~Copyable {
    private let columns: Range<Int>
    private let channels: Int
    private let stride: Int
    private let values: RowBuffer<Float>

    /// - Parameter columns: coordinates of the row's pixels.
    init(_ columns: Range<Int>, channels: Int) {
        (self.columns, self.channels) = (columns, channels)
        stride = (columns.count + 63) & ~31
        values = RowBuffer(count: stride * channels)
    }

    var planeStride: Int { stride }

    func plane(_ channel: Int) -> MutableRow<Float> { values.start + channel * stride }

    /// All planes as a row of the picture.
    func row(_ y: Int, _ operations: RowOperations) -> PlaneRow {
        PlaneRow(
            values.start, stride: stride, count: columns.count, channels: channels, x: columns.lowerBound, y: y,
            operations)
    }
}
