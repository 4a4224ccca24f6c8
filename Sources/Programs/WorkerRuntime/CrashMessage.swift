import CCrashRecord

/// A message that a thread of this process says last, should it crash or call `exit`.
final class CrashMessage: @unchecked Sendable {
    // Sendable: the bytes are never changed.
    private let bytes: UnsafeMutableRawBufferPointer

    init(_ message: [UInt8]) {
        bytes = .allocate(byteCount: message.count, alignment: 1)
        bytes.copyBytes(from: message)
    }

    deinit { bytes.deallocate() }

    /// Runs code that may crash on this thread.
    ///
    /// - Precondition: it is not called within itself.
    func prepared<Result>(_ body: () -> Result) -> Result {
        crash_record_set(bytes.baseAddress, bytes.count)
        defer { withExtendedLifetime(self) { crash_record_set(nil, 0) } }
        return body()
    }
}
