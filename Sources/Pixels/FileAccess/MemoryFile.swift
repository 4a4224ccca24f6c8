import Glibc

/// A file in memory without a name. This process can open it by its number, even where it may open no other files.
package enum MemoryFile {
    /// - Returns: its descriptor; −1 with `errno` if there is none.
    package static func create() -> Int32 {
        // Executed programs do not inherit it. C's headers show the call only to GNU sources.
        guard let function = dlsym(nil, "memfd_create") else {
            errno = ENOSYS
            return -1
        }
        typealias Create = @convention(c) (_ name: UnsafePointer<CChar>, _ flags: UInt32) -> Int32
        return unsafeBitCast(function, to: Create.self)("input", 1 /* MFD_CLOEXEC */)
    }
}
