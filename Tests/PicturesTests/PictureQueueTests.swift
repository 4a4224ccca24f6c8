import Pictures
import Scheduling
import Testing

@Suite struct PictureQueueTests {
    private var queue = PictureQueue()

    /// - Returns: the clients whose order has lost its place.
    @discardableResult
    private mutating func add(
        _ order: PictureOrder, _ number: Int, of owner: String = "a", at now: Timestamp = .start
    ) throws(PictureError) -> [PictureQueue.ClientID] {
        try queue.add(order, for: client(number), of: PictureOwner(owner), at: now)
    }

    /// Carries out all orders, and says which picture each of them was.
    private mutating func carriedOut() -> [String] {
        var paths: [String] = []
        while let order = queue.begin() {
            paths.append(order.source.path)
            _ = queue.finish(nil, at: .start)
        }
        return paths
    }

    @Test mutating func `the newest order is the next one`() throws {
        for name in ["a", "b", "c"] { try add(.make(name), 1) }
        #expect(queue.begin() == .make("c"))
        _ = queue.finish(nil, at: .start)
        #expect(queue.begin() == .make("b"))
    }

    @Test mutating func `one order at a time is carried out`() throws {
        try add(.make("a"), 1)
        try add(.make("b"), 2)
        #expect(queue.begin() == .make("b"))
        #expect(queue.next == nil)
        #expect(queue.begin() == nil)
        #expect(queue.active == .make("b"))
    }

    @Test mutating func `clients of one picture share its order`() throws {
        for number in 1...3 { try add(.make(), number) }
        #expect(queue.count == 1)
        _ = queue.begin()
        // Also while it is carried out.
        try add(.make(), 4)
        #expect(queue.count == 0)
        #expect(queue.finish(nil, at: .start) == [1, 2, 3, 4].map(client))
        #expect(queue.active == nil)
    }

    @Test mutating func `an order that somebody joins becomes the newest`() throws {
        for name in ["a", "b", "c"] { try add(.make(name), 1) }
        try add(.make("a"), 2)
        #expect(queue.begin() == .make("a"))
    }

    @Test mutating func `thirty-two orders wait, and a newer one takes the place of the oldest`() throws {
        for number in 1...32 { try add(.make("\(number)"), number) }
        #expect(try add(.make("33"), 33) == [client(1)])
        #expect(queue.count == 32)
        // Joining needs no place.
        #expect(try add(.make("2"), 34) == [])
        #expect(carriedOut() == ["2"] + (3...33).reversed().map { "\($0)" })
    }

    @Test mutating func `a client that goes away gives its place free`() throws {
        for number in 1...32 { try add(.make("\(number)"), number) }
        queue.remove(client(7))
        #expect(try add(.make("33"), 33) == [])
        #expect(queue.count == 32)
    }

    // MARK: Owners

    @Test mutating func `an owner with many orders delays each order of another one by one picture`() throws {
        for number in 1...4 { try add(.make("many \(number)"), number, of: "many") }
        #expect(queue.begin() == .make("many 4"))
        for number in 1...3 { try add(.make("few \(number)"), 10 + number, of: "few") }
        _ = queue.finish(nil, at: .start)
        #expect(carriedOut() == ["few 3", "many 3", "few 2", "many 2", "few 1", "many 1"])
    }

    @Test mutating func `who asks for one picture after the other gets no more turns than who asks for all at once`()
        throws
    {
        for number in 1...3 {
            try add(.make("a\(number)"), number, of: "a")
            try add(.make("b\(number)"), 10 + number, of: "b")
        }
        var paths: [String] = []
        for number in 1...4 {
            try add(.make("c\(number)"), 20 + number, of: "c")
            for _ in 1...2 {
                paths.append(queue.begin()?.source.path ?? "")
                _ = queue.finish(nil, at: .start)
            }
        }
        #expect(paths == ["c1", "b3", "a3", "c2", "b2", "a2", "c4", "b1"])
    }

    @Test mutating func `in a full queue, the owner with the most orders loses the oldest`() throws {
        try add(.make("few"), 1, of: "few")
        for number in 2...32 { try add(.make("\(number)"), number, of: "many") }
        #expect(try add(.make("new"), 33, of: "third") == [client(2)])
        // Its own newest order is made nonetheless.
        #expect(try add(.make("newest"), 34, of: "many") == [client(3)])
        #expect(queue.begin() == .make("newest"))
    }

    @Test mutating func `of single orders of many owners, the oldest loses its place`() throws {
        for number in 1...32 { try add(.make("\(number)"), number, of: "\(number)") }
        #expect(try add(.make("33"), 33, of: "33") == [client(1)])
    }

    @Test mutating func `an order that another owner waits for, too, is spared`() throws {
        for number in 1...32 { try add(.make("\(number)"), number, of: "many") }
        try add(.make("1"), 40, of: "few")
        // It is the newest now, so make the others newer again.
        for number in 2...32 { try add(.make("\(number)"), 100 + number, of: "many") }
        #expect(try add(.make("33"), 33, of: "many") == [client(2), client(102)])
    }

    @Test mutating func `if owners wait for the same pictures only, the oldest loses its place`() throws {
        for number in 1...32 {
            try add(.make("\(number)"), number, of: "a")
            try add(.make("\(number)"), 100 + number, of: "b")
        }
        #expect(try add(.make("33"), 33, of: "c") == [client(1), client(101)])
    }

    // MARK: Clients

    @Test mutating func `an order without clients is dropped`() throws {
        try add(.make("a"), 1)
        try add(.make("b"), 2)
        try add(.make("b"), 3)
        queue.remove(client(2))
        #expect(queue.count == 2)
        queue.remove(client(3))
        #expect(queue.begin() == .make("a"))
        // An order that is carried out goes on.
        queue.remove(client(1))
        #expect(queue.active == .make("a"))
        #expect(queue.finish(nil, at: .start) == [])
    }

    // MARK: Broken pictures

    /// Carries out an order, which has this fault.
    private mutating func spoil(_ order: PictureOrder, _ fault: PictureFault?, at now: Timestamp = .start) throws {
        try add(order, 1, at: now)
        #expect(queue.begin() == order)
        _ = queue.finish(fault, at: now)
    }

    private mutating func refusal(_ order: PictureOrder, at now: Timestamp = .start) -> PictureError? {
        error { () throws(PictureError) in try add(order, 2, at: now) }
    }

    @Test
    mutating func `a picture that was not done in time is not tried again for ten minutes, but others of its file are`()
        throws
    {
        let late = PictureOrder.make("a", .thumbnail(width: 480))
        try spoil(late, .order("a: too slow"), at: seconds(5))
        #expect(refusal(late, at: seconds(604)) == .broken("a: too slow"))
        #expect(refusal(.make("a", .thumbnail(width: 100)), at: seconds(604)) == nil)
        #expect(refusal(.make("a", .facts), at: seconds(604)) == nil)
        #expect(refusal(late, at: seconds(605)) == nil)
    }

    @Test mutating func `nothing is made of a file whose header cannot be read`() throws {
        try spoil(.make("a", .facts), .header("a: cut off"), at: seconds(5))
        for kind in [PictureOrder.Kind.facts, .thumbnail(width: 100), .digest] {
            #expect(refusal(.make("a", kind), at: seconds(604)) == .broken("a: cut off"))
        }
        #expect(refusal(.make("b"), at: seconds(6)) == nil)
        #expect(refusal(.make("a"), at: seconds(605)) == nil)
    }

    @Test mutating func `nothing is made of a file that has crashed the worker twice`() throws {
        try spoil(.make("a", .thumbnail(width: 100)), .crash("died"))
        #expect(refusal(.make("a", .thumbnail(width: 100))) == .broken("died"))
        try spoil(.make("a", .thumbnail(width: 200)), .crash("died again"))
        #expect(refusal(.make("a", .facts)) == .broken("died again"))
        #expect(refusal(.make("b", .facts)) == nil)
    }

    @Test mutating func `crashes by different files are counted for each of them`() throws {
        try spoil(.make("a", .thumbnail(width: 100)), .crash("died"))
        try spoil(.make("b", .thumbnail(width: 100)), .crash("died"))
        #expect(refusal(.make("a", .facts)) == nil)
    }

    @Test mutating func `a crash ten minutes ago does not count`() throws {
        try spoil(.make("a", .thumbnail(width: 100)), .crash("died"))
        try spoil(.make("a", .thumbnail(width: 200)), .crash("died"), at: seconds(600))
        #expect(refusal(.make("a", .facts), at: seconds(600)) == nil)
    }

    @Test mutating func `a file that has changed is another picture`() throws {
        try spoil(.make("a", .facts), .header("a: cut off"))
        let mended = PictureOrder(.make("a", stamp: .make(changed: 8)), .facts)
        #expect(refusal(mended, at: seconds(1)) == nil)
        #expect(queue.begin() == mended)
    }

    @Test mutating func `an end without a fault is not remembered`() throws {
        try spoil(.make(), nil)
        #expect(refusal(.make()) == nil)
    }

    @Test func `the list of broken pictures has a limit, and forgets the oldest`() {
        var broken = BrokenPictures()
        for number in 0...BrokenPictures.most { broken.add(.make("\(number)"), .order("no"), at: .start) }
        #expect(broken.message(of: .make("0"), at: .start) == nil)
        #expect(broken.message(of: .make("1"), at: .start) == "no")
    }

    // MARK: Folders

    @Test mutating func `orders of some folders are dropped together`() throws {
        try add(.make("a", roots: ["/a"]), 1)
        try add(.make("b"), 2)
        #expect(queue.drop(roots: ["/a"]) == [client(1)])
        #expect(queue.next == .make("b"))
    }
}
