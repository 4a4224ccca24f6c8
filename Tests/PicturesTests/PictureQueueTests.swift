import Pictures
import Scheduling
import Testing

@Suite struct PictureQueueTests {
    private var queue = PictureQueue()

    @Test mutating func `the newest order is the next one`() throws {
        for name in ["a", "b", "c"] { try queue.add(.make(name), for: client(1), at: .start) }
        #expect(queue.begin() == .make("c"))
        _ = queue.finish(nil, at: .start)
        #expect(queue.begin() == .make("b"))
    }

    @Test mutating func `one order at a time is carried out`() throws {
        try queue.add(.make("a"), for: client(1), at: .start)
        try queue.add(.make("b"), for: client(2), at: .start)
        #expect(queue.begin() == .make("b"))
        #expect(queue.next == nil)
        #expect(queue.begin() == nil)
        #expect(queue.active == .make("b"))
    }

    @Test mutating func `clients of one picture share its order`() throws {
        for number in 1...3 { try queue.add(.make(), for: client(number), at: .start) }
        #expect(queue.count == 1)
        _ = queue.begin()
        // Also while it is carried out.
        try queue.add(.make(), for: client(4), at: .start)
        #expect(queue.count == 0)
        #expect(queue.finish(nil, at: .start) == [1, 2, 3, 4].map(client))
        #expect(queue.active == nil)
    }

    @Test mutating func `an order that somebody joins becomes the newest`() throws {
        for name in ["a", "b", "c"] { try queue.add(.make(name), for: client(1), at: .start) }
        try queue.add(.make("a"), for: client(2), at: .start)
        #expect(queue.begin() == .make("a"))
    }

    @Test mutating func `thirty-two orders wait, and another one is refused`() throws {
        for number in 1...32 { try queue.add(.make("\(number)"), for: client(number), at: .start) }
        #expect(error { () throws(PictureError) in try queue.add(.make("33"), for: client(33), at: .start) } == .full)
        #expect(queue.count == 32)
        // Joining needs no place.
        try queue.add(.make("1"), for: client(34), at: .start)
        #expect(queue.begin() == .make("1"))
        try queue.add(.make("33"), for: client(33), at: .start)
        #expect(queue.count == 32)
    }

    @Test mutating func `an order without clients is dropped`() throws {
        try queue.add(.make("a"), for: client(1), at: .start)
        try queue.add(.make("b"), for: client(2), at: .start)
        try queue.add(.make("b"), for: client(3), at: .start)
        queue.remove(client(2))
        #expect(queue.count == 2)
        queue.remove(client(3))
        #expect(queue.begin() == .make("a"))
        // An order that is carried out goes on.
        queue.remove(client(1))
        #expect(queue.active == .make("a"))
        #expect(queue.finish(nil, at: .start) == [])
    }

    @Test mutating func `a broken picture is not tried again for ten minutes, in no size`() throws {
        try queue.add(.make("a", .thumbnail(width: 480)), for: client(1), at: .start)
        _ = queue.begin()
        _ = queue.finish(.broken("a: cut off"), at: seconds(5))
        for kind in [PictureOrder.Kind.thumbnail(width: 480), .thumbnail(width: 100), .facts] {
            let refusal = error { () throws(PictureError) in
                try queue.add(.make("a", kind), for: client(2), at: seconds(604))
            }
            #expect(refusal == .broken("a: cut off"))
        }
        try queue.add(.make("b"), for: client(2), at: seconds(6))
        try queue.add(.make("a"), for: client(3), at: seconds(605))
    }

    @Test mutating func `a file that has changed is another picture`() throws {
        try queue.add(.make("a"), for: client(1), at: .start)
        _ = queue.begin()
        _ = queue.finish(.broken("a: cut off"), at: .start)
        let mended = PictureOrder(.make("a", stamp: .make(changed: 8)), .digest)
        try queue.add(mended, for: client(2), at: seconds(1))
        #expect(queue.begin() == mended)
    }

    @Test mutating func `other errors are not remembered`() throws {
        try queue.add(.make(), for: client(1), at: .start)
        _ = queue.begin()
        _ = queue.finish(.unavailable("no worker"), at: .start)
        try queue.add(.make(), for: client(2), at: .start)
    }

    @Test func `the list of broken pictures has a limit, and forgets the oldest`() {
        var broken = BrokenPictures()
        for number in 0...BrokenPictures.most { broken.add(.make("\(number)"), "no", at: .start) }
        #expect(broken.message(of: .make("0"), at: .start) == nil)
        #expect(broken.message(of: .make("1"), at: .start) == "no")
    }

    @Test mutating func `orders of some folders are dropped together`() throws {
        try queue.add(.make("a", roots: ["/a"]), for: client(1), at: .start)
        try queue.add(.make("b"), for: client(2), at: .start)
        #expect(queue.drop(roots: ["/a"]) == [client(1)])
        #expect(queue.next == .make("b"))
    }
}
