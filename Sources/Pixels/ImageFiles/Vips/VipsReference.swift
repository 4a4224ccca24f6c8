import CVips

/// Owns one reference to a libvips object, and gives it back when it goes.
struct VipsReference<Object>: ~Copyable {
    let pointer: UnsafeMutablePointer<Object>

    /// Takes over the reference that the caller holds; nil for nil.
    init?(adopting pointer: UnsafeMutablePointer<Object>?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    private init(owned pointer: UnsafeMutablePointer<Object>) {
        self.pointer = pointer
    }

    deinit {
        g_object_unref(pointer)
    }

    /// A second reference to the same object.
    func retained() -> VipsReference {
        g_object_ref(pointer)
        return VipsReference(owned: pointer)
    }

    /// The object as one of its base or derived classes, for as long as this reference lives.
    func cast<Other>(to type: Other.Type) -> UnsafeMutablePointer<Other> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: type)
    }
}
