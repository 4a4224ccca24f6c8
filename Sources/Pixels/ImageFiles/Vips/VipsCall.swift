import CVips
import Glibc
import Synchronization

/// An argument of a libvips operation. GObject converts it into the property's own type (an integer into an enum, …).
package enum VipsArgument: Hashable, Sendable {
    case boolean(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
}

/// A call of a libvips operation by name, with arguments by name: <https://www.libvips.org/API/current/func-list.html>.
///
/// An unknown operation or argument is a programming error, and fails in the first test that makes the call.
struct VipsCall: ~Copyable {
    private let operation: VipsReference<VipsOperation>

    init(_ name: String) throws(VipsError) {
        guard let operation = VipsReference(adopting: vips_operation_new(name)) else { throw VipsError.take() }
        self.operation = operation
    }

    func set(_ name: String, to argument: VipsArgument) {
        switch argument {
        case .boolean(let value):
            set(name, penumbra_type_boolean()) { g_value_set_boolean(&$0, value ? 1 : 0) }
        case .integer(let value):
            set(name, penumbra_type_int()) { g_value_set_int(&$0, gint(value)) }
        case .number(let value):
            set(name, penumbra_type_double()) { g_value_set_double(&$0, value) }
        case .text(let value):
            set(name, to: value)
        }
    }

    func set(_ name: String, to text: String) {
        set(name, penumbra_type_string()) { g_value_set_string(&$0, text) }
    }

    /// Sets an image, source or target. The operation holds its own reference.
    func set<Object>(_ name: String, to object: borrowing VipsReference<Object>) {
        let pointer = object.pointer
        set(name, penumbra_type_object()) { g_value_set_object(&$0, pointer) }
    }

    private func set(_ name: String, _ type: GType, _ store: (inout GValue) -> Void) {
        var value = GValue()
        g_value_init(&value, type)
        defer { g_value_unset(&value) }
        store(&value)
        g_object_set_property(operation.cast(to: GObject.self), name, &value)
    }

    /// Runs an operation that returns no image: a saver.
    consuming func run() throws(VipsError) {
        try build()
        vips_object_unref_outputs(operation.cast(to: VipsObject.self))
    }

    /// Builds an operation and returns its output image, whose pixels are not computed yet.
    consuming func image() throws(VipsError) -> VipsReference<VipsImage> {
        try build()
        var value = GValue()
        g_value_init(&value, vips_image_get_type())
        defer { g_value_unset(&value) }
        g_object_get_property(operation.cast(to: GObject.self), "out", &value)
        let output = g_value_dup_object(&value)?.assumingMemoryBound(to: VipsImage.self)
        vips_object_unref_outputs(operation.cast(to: VipsObject.self))
        guard let image = VipsReference(adopting: output) else { throw VipsError.take() }
        return image
    }

    private func build() throws(VipsError) {
        let object = operation.cast(to: VipsObject.self)
        guard vips_object_build(object) == 0 else {
            let failure = VipsError.take()
            vips_object_unref_outputs(object)
            throw failure
        }
    }
}

/// An owned reference to a libvips object, which is released with the value.
struct VipsReference<Object>: ~Copyable {
    let pointer: UnsafeMutablePointer<Object>

    /// Takes over the caller's reference. Returns nil for nil.
    init?(adopting pointer: UnsafeMutablePointer<Object>?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    private init(owned pointer: UnsafeMutablePointer<Object>) { self.pointer = pointer }

    deinit { g_object_unref(pointer) }

    /// Another reference to the same object.
    func retained() -> VipsReference {
        g_object_ref(pointer)
        return VipsReference(owned: pointer)
    }

    /// The object as one of its base or derived classes. It is valid as long as this reference exists.
    func cast<Other>(to type: Other.Type) -> UnsafeMutablePointer<Other> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: type)
    }
}

/// The message of libvips after a failed call, as one line.
struct VipsError: Error {
    let line: String

    /// Reads libvips' error text and empties its buffer.
    ///
    /// The buffer belongs to the process, not to a thread, so it may contain the text of a simultaneous failure elsewhere. The
    /// text is only for users. Whether a call failed is known from its result.
    static func take() -> VipsError {
        guard let buffer = vips_error_buffer_copy() else { return VipsError(line: fallback) }
        defer { g_free(buffer) }
        return VipsError(line: firstLine(of: String(cString: buffer)))
    }

    private static let fallback = "libvips gave no reason"

    /// The first line that is not empty, without the name of the libvips module before it (`VipsJpeg: …`).
    static func firstLine(of text: String) -> String {
        for line in text.split(whereSeparator: \.isNewline) {
            var words = line[...]
            if let colon = words.firstIndex(of: ":"), !words[..<colon].contains(" ") {
                words = words[words.index(after: colon)...]
            }
            let trimmed = words.drop { $0.isWhitespace }
            if !trimmed.isEmpty { return String(trimmed) }
        }
        return fallback
    }
}

// libvips reads and writes through Penumbra's own files. A disk failure is therefore known by its error number, and not only
// by libvips' text. The decoded file is the same whose first bytes were recognised. A file that shrinks while it is read
// causes an error instead of a SIGBUS (libvips would map it).

extension VipsReference where Object == VipsSourceCustom {
    /// A source that reads `file` from its start, and keeps it alive.
    static func reading(_ file: InputFile) throws(VipsError) -> VipsReference<VipsSourceCustom> {
        guard let source = VipsReference(adopting: vips_source_custom_new()) else { throw VipsError.take() }
        penumbra_source_connect(
            source.pointer,
            { _, bytes, count, context in
                let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
                return gint64(Unmanaged<InputFile>.fromOpaque(context).takeUnretainedValue().read(into: buffer))
            },
            { _, offset, whence, context in
                let file = Unmanaged<InputFile>.fromOpaque(context).takeUnretainedValue()
                return gint64(file.seek(to: Int(offset), from: whence))
            },
            Unmanaged.passRetained(file).toOpaque(),
            { context, _ in context.map { Unmanaged<InputFile>.fromOpaque($0).release() } })
        return source
    }
}

extension VipsReference where Object == VipsTargetCustom {
    /// A target that writes an encoder's bytes to `file`, and keeps it alive.
    static func writing(to file: OutputFile) throws(VipsError) -> VipsReference<VipsTargetCustom> {
        guard let target = VipsReference(adopting: vips_target_custom_new()) else { throw VipsError.take() }
        penumbra_target_connect(
            target.pointer,
            { _, bytes, count, context in
                let file = Unmanaged<OutputFile>.fromOpaque(context).takeUnretainedValue()
                return file.writeEncoded(UnsafeRawBufferPointer(start: bytes, count: Int(count))) ? count : -1
            },
            { _, bytes, count, context in
                let file = Unmanaged<OutputFile>.fromOpaque(context).takeUnretainedValue()
                return gint64(file.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))))
            },
            { _, offset, whence, context in
                let file = Unmanaged<OutputFile>.fromOpaque(context).takeUnretainedValue()
                return gint64(file.seek(to: Int(offset), from: whence))
            },
            Unmanaged.passRetained(file).toOpaque(),
            { context, _ in context.map { Unmanaged<OutputFile>.fromOpaque($0).release() } })
        return target
    }
}

/// Observes libvips' warnings, which would otherwise be printed.
enum VipsWarnings {
    /// The number of warnings on each observing thread.
    private static let counts = Mutex<[pthread_t: Int]>([:])

    /// Suppresses the output of warnings from now on.
    static func listen() {
        g_log_set_handler(
            "VIPS", G_LOG_LEVEL_WARNING,
            { _, _, _, _ in VipsWarnings.counts.withLock { $0[pthread_self()]? += 1 } }, nil)
    }

    /// Whether libvips warns on this thread while `body` runs.
    static func occur(during body: () -> Void) -> Bool {
        counts.withLock { $0[pthread_self()] = 0 }
        body()
        return counts.withLock { $0.removeValue(forKey: pthread_self()) ?? 0 } > 0
    }
}
