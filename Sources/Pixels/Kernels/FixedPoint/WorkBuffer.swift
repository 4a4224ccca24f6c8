/// Memory for rows: zeros at first, aligned to a cache line, freed with the value.
final class WorkBuffer<Element: BitwiseCopyable> {
    let base: UnsafeMutablePointer<Element>
    let count: Int

    init(count: Int) {
        let bytes = (count * MemoryLayout<Element>.stride + 63) & ~63
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        base = memory.assumingMemoryBound(to: Element.self)
        self.count = count
    }

    deinit { UnsafeMutableRawPointer(base).deallocate() }
}
