import Queueing
import ServiceAPI
import Testing

@Suite struct PreviewOrderTests {
    private func read(_ text: String) throws(BodyError) -> PreviewOrder {
        try StrictJSON.decode(PreviewOrder.self, from: Array(text.utf8))
    }

    private func message(_ text: String) -> String? { #expect(throws: BodyError.self) { try read(text) }?.message }

    @Test func `only a manifest is needed`() throws {
        let order = try read(#"{"manifest":"/srv/a/night.yaml"}"#)
        #expect(order.source == .file(path: "/srv/a/night.yaml"))
        #expect(order.input == nil)
        #expect((order.size, order.output, order.middle) == (512, 1, "50%,50%"))
        #expect(order.options.overrides == [])
    }

    @Test func `a part is asked for by its first pixel`() throws {
        let order = try read(
            #"{"text":"job: a","folder":"/srv/a","input":"/srv/a/b.png","x":1200,"y":0,"size":64,"output":2}"#)
        #expect(order.source == .text("job: a", folder: "/srv/a", name: nil))
        #expect(order.input == "/srv/a/b.png")
        #expect((order.size, order.output, order.middle) == (64, 2, "1232,32"))
        #expect(try read(#"{"manifest":"/a","x":3,"size":9}"#).middle == "7.5,50%")
    }

    @Test func `a part is asked for by its middle in percent`() throws {
        #expect(try read(#"{"manifest":"/a","at":"40%,30.5%"}"#).middle == "40%,30.5%")
        #expect(
            message(#"{"manifest":"/a","at":"40%,30%","x":3}"#)
                == "x: it says where the part begins, and 'at' says where its middle is: send one of them")
        for wrong in ["40%", "40,30", "40%,101%", "-1%,3%", "1%,2%,3%", "1e1%,2%", ".%,2%", "%,%"] {
            #expect(
                message(#"{"manifest":"/a","at":"\#(wrong)"}"#)
                    == "at: '\(wrong)' is no place in percent\n   = give two numbers from 0 to 100, as in \"40%,30%\"")
        }
    }

    @Test func `a relative picture starts at the manifest's folder`() throws {
        #expect(try read(#"{"manifest":"/srv/a/night.yaml","input":"photos/b.png"}"#).input == "/srv/a/photos/b.png")
        #expect(try read(#"{"text":"","folder":"/srv/b","input":"b.png"}"#).input == "/srv/b/b.png")
        #expect(try read(#"{"manifest":"/night.yaml","input":"b.png"}"#).input == "/b.png")
    }

    @Test func `without filters the picture is shown as it is`() throws {
        #expect(try read(#"{"manifest":"/a","filters":[]}"#).options.overrides == ["filters=[{crop: {}}]"])
    }

    @Test(arguments: [
        (#"[{"gaussian":{"radius":14}}]"#, "[{gaussian: {radius: 14}}]"),
        (#"["sharpen",{"box":{}}]"#, #"["sharpen", {box: {}}]"#),
        (#"[{"resize":{"size":"50%","kernel":"box"}}]"#, #"[{resize: {kernel: "box", size: "50%"}}]"#),
        (#"[{"a":{"b":true,"c":-1.5,"d":2e3,"e":[1,"x"]}}]"#, #"[{a: {b: true, c: -1.5, d: 2000, e: [1, "x"]}}]"#),
        (#"[{"a":{"b":"\" \\ \n ü"}}]"#, ##"[{a: {b: "\" \\ \u000a ü"}}]"##),
    ])
    func `filters become a line of a manifest`(json: String, text: String) throws {
        let order = try read(#"{"manifest":"/a","filters":\#(json),"set":["filters[0].gaussian.radius=15"]}"#)
        // Changes of single values come after it.
        #expect(order.options.overrides == ["filters=\(text)", "filters[0].gaussian.radius=15"])
    }

    @Test(arguments: [
        (#"{}"#, "the request has no manifest"),
        (#"{"manifest":"/a","path":"/b"}"#, "there is no key 'path'"),
        (#"{"manifest":"/a","input":""}"#, "input: '' is no path of a picture"),
        (#"{"manifest":"/a","size":513}"#, "size: 513 is not a number of pixels from 1 to 512"),
        (#"{"manifest":"/a","size":0}"#, "size: 0 is not a number of pixels from 1 to 512"),
        (#"{"manifest":"/a","output":0}"#, "output: 0 is not a number from 1 to 1000"),
        (#"{"manifest":"/a","x":-5}"#, "x: -5 is not a number of pixels from 0 to 10000000"),
        (#"{"manifest":"/a","y":"40%"}"#, "y: a whole number is expected, and this is text"),
        (#"{"manifest":"/a","filters":[{"a b":{}}]}"#, "filters[0].a b: 'a b' is no name of a filter or a parameter"),
        (#"{"manifest":"/a","filters":[{"a":null}]}"#, "filters[0].a: a null is no value of a manifest"),
    ])
    func `wrong values are refused in words`(body: String, words: String) {
        #expect(message(body)?.split(separator: "\n").first.map(String.init) == words)
    }

    @Test func `filters have a limit`() {
        let name = String(repeating: "x", count: 70_000)
        #expect(message(#"{"manifest":"/a","filters":["\#(name)"]}"#) == "filters: they have more than 65536 bytes")
    }
}
