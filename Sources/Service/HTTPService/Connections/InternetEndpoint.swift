import Glibc

/// An IP address and a port.
struct InternetEndpoint: CustomStringConvertible {
    private enum Storage {
        case four(sockaddr_in)
        case six(sockaddr_in6)
    }

    private let storage: Storage

    /// Nil if the text is no address. Names are not looked up.
    init?(_ address: String, port: UInt16) {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, address, &four) == 1 {
            storage = .four(
                sockaddr_in(
                    sin_family: sa_family_t(AF_INET), sin_port: port.bigEndian, sin_addr: four,
                    sin_zero: (0, 0, 0, 0, 0, 0, 0, 0)))
        } else if inet_pton(AF_INET6, address, &six) == 1 {
            storage = .six(
                sockaddr_in6(
                    sin6_family: sa_family_t(AF_INET6), sin6_port: port.bigEndian, sin6_flowinfo: 0, sin6_addr: six,
                    sin6_scope_id: 0))
        } else {
            return nil
        }
    }

    /// The address of a socket. Nil for a socket that is not of the internet.
    init?(boundTo descriptor: Int32) {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard code == 0 else { return nil }
        switch Int32(address.ss_family) {
        case AF_INET: storage = .four(withUnsafeBytes(of: &address) { $0.loadUnaligned(as: sockaddr_in.self) })
        case AF_INET6: storage = .six(withUnsafeBytes(of: &address) { $0.loadUnaligned(as: sockaddr_in6.self) })
        default: return nil
        }
    }

    var family: Int32 {
        switch storage {
        case .four: AF_INET
        case .six: AF_INET6
        }
    }

    var port: UInt16 {
        switch storage {
        case .four(let address): UInt16(bigEndian: address.sin_port)
        case .six(let address): UInt16(bigEndian: address.sin6_port)
        }
    }

    /// Whether only this machine can reach it.
    var isLoopback: Bool {
        switch storage {
        case .four(let address): UInt32(bigEndian: address.sin_addr.s_addr) >> 24 == 127
        case .six(let address):
            withUnsafeBytes(of: address.sin6_addr) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
        }
    }

    func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        switch storage {
        case .four(var address):
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .six(var address):
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
    }

    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch storage {
        case .four(var address): _ = inet_ntop(AF_INET, &address.sin_addr, &text, socklen_t(text.count))
        case .six(var address): _ = inet_ntop(AF_INET6, &address.sin6_addr, &text, socklen_t(text.count))
        }
        let end = text.firstIndex(of: 0) ?? text.endIndex
        let address = String(decoding: text[..<end].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return family == AF_INET ? "\(address):\(port)" : "[\(address)]:\(port)"
    }
}
