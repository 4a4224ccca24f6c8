import Glibc

/// A system call whose name a method of the caller hides.
enum SystemCalls {
    static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }
}
