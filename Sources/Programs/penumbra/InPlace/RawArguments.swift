import Glibc

/// The command line as the system has it: Swift's strings are UTF-8, names of files need not be.
enum RawArguments {
    /// The bytes of an argument that the parser has given as text.
    static func bytes(of argument: String) -> [UInt8] {
        // Only what is not UTF-8 has been changed, and shows that by this character.
        guard argument.unicodeScalars.contains("\u{FFFD}") else { return Array(argument.utf8) }
        let raw = all.first { String(decoding: $0, as: UTF8.self) == argument }
        return raw ?? Array(argument.utf8)
    }

    private static var all: [[UInt8]] {
        (0..<Int(CommandLine.argc)).compactMap { place in
            CommandLine.unsafeArgv[place].map { start in
                UnsafeBufferPointer(start: start, count: strlen(start)).map { UInt8(bitPattern: $0) }
            }
        }
    }
}
