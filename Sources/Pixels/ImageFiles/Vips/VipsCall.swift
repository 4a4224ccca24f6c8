import CVips

/// One argument of a libvips operation. GObject turns it into the property's own type (an integer into an enum, …).
package enum VipsArgument: Hashable, Sendable {
    case boolean(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
}

/// Calls libvips operations by name, with arguments by name: <https://www.libvips.org/API/current/func-list.html>.
///
/// An unknown operation or argument is our own mistake, and shows as a failure in the first test that makes the call.
struct VipsCall: ~Copyable {
    private let operation: VipsReference<VipsOperation>

    init(_ name: String) throws(VipsFailure) {
        guard let operation = VipsReference(adopting: vips_operation_new(name)) else { throw VipsFailure.take() }
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

    /// Sets an image, source or target; the operation takes a reference of its own.
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

    /// Runs an operation that gives no image: a saver.
    consuming func run() throws(VipsFailure) {
        try build()
        vips_object_unref_outputs(operation.cast(to: VipsObject.self))
    }

    /// Builds an operation and gives its output image, whose pixels are not computed yet.
    consuming func image() throws(VipsFailure) -> VipsReference<VipsImage> {
        try build()
        var value = GValue()
        g_value_init(&value, vips_image_get_type())
        defer { g_value_unset(&value) }
        g_object_get_property(operation.cast(to: GObject.self), "out", &value)
        let output = g_value_dup_object(&value)?.assumingMemoryBound(to: VipsImage.self)
        vips_object_unref_outputs(operation.cast(to: VipsObject.self))
        guard let image = VipsReference(adopting: output) else { throw VipsFailure.take() }
        return image
    }

    private func build() throws(VipsFailure) {
        let object = operation.cast(to: VipsObject.self)
        guard vips_object_build(object) == 0 else {
            let failure = VipsFailure.take()
            vips_object_unref_outputs(object)
            throw failure
        }
    }
}
