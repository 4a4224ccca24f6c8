import Glibc

/// Standard output and standard error, and what they are connected to.
enum Console {
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Columns of the terminal at standard error, 80 where it does not tell.
    static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    static func print(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }
    static func complain(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

    /// Without a newline; for the progress bar.
    static func draw(_ text: String) { write(text, to: STDERR_FILENO) }

    /// Whole, whatever a signal interrupts. A reader that has gone is nobody to tell.
    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}
