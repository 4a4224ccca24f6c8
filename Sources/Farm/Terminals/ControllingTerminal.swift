import Glibc

/// The terminal that controls this process.
package enum ControllingTerminal {
    /// The size of its window.
    package struct Size: Hashable, Sendable {
        package let columns: Int
        package let rows: Int
        /// In pixels; an estimate if the terminal does not tell it.
        package let width: Int
        package let height: Int
    }

    /// How long a terminal may take to answer: longer than the way to another continent and back.
    private static let limit = Duration.seconds(1)

    /// Asks the terminal how it shows pictures. Nil if it shows none, gives no answer in time, or belongs to another process.
    ///
    /// What the user types meanwhile is lost.
    package static func graphics(_ environment: [String: String]) -> GraphicsProtocol? {
        guard GraphicsQuery.isWorthwhile(environment) else { return nil }
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        // A process in the background would be stopped if it changed the terminal.
        var before = termios()
        guard tcgetpgrp(terminal) == getpgrp(), tcgetattr(terminal, &before) == 0 else { return nil }
        // The answer has no line break at its end, and is not shown.
        var raw = before
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard tcsetattr(terminal, TCSADRAIN, &raw) == 0 else { return nil }
        defer { tcsetattr(terminal, TCSADRAIN, &before) }
        let question = Array(GraphicsQuery.question.utf8)
        guard write(terminal, question, question.count) == question.count else { return nil }
        return answer(of: terminal)
    }

    private static func answer(of terminal: Int32) -> GraphicsProtocol? {
        var query = GraphicsQuery()
        var buffer = [UInt8](repeating: 0, count: 256)
        // More than this is no answer.
        var bytesLeft = 1 << 14
        let end = ContinuousClock.now + limit
        while !query.isAnswered, bytesLeft > 0 {
            let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
            guard left > 0 else { break }
            var asked = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
            guard poll(&asked, 1, Int32(left.rounded(.up))) > 0 else { continue }
            let count = read(terminal, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { break }
            bytesLeft -= count
            query.add(buffer.prefix(count))
        }
        return query.graphics
    }

    /// - Parameter descriptor: a descriptor of the terminal.
    package static func size(_ descriptor: Int32) -> Size {
        var found = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &found) == 0
        let columns = isKnown && found.ws_col > 0 ? Int(found.ws_col) : 80
        let rows = isKnown && found.ws_row > 0 ? Int(found.ws_row) : 24
        // Ten by twenty pixels are a usual size of a character.
        return Size(
            columns: columns, rows: rows, width: found.ws_xpixel > 0 ? Int(found.ws_xpixel) : columns * 10,
            height: found.ws_ypixel > 0 ? Int(found.ws_ypixel) : rows * 20)
    }
}
