import Catalogs
import ImageFiles
import JobModel
import Testing

/// What becomes of an XMP packet.
@Suite struct XMPTests {
    private let shape = ImageShape(width: 80, height: 60, layout: .rgb, sampleFormat: .u8)
    private let namespaces = """
        xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:exif='http://ns.adobe.com/exif/1.0/' \
        xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
        """

    private func keep(_ packet: String, isConverted: Bool = false) -> String? {
        ImageMetadata(xmp: Blob(Array(packet.utf8)), isConverted: isConverted).carried(by: .keep, shape: shape)
            .xmp.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test func `a packet without anything unwanted stays as it is`() {
        let packet =
            "<?xpacket begin='\u{FEFF}'?><!-- < > --><a:b \(namespaces) dc:x='1 &lt; 2'>é<c/></a:b>\n <?xpacket end='w'?>"
        #expect(keep(packet) == packet)
    }

    @Test func `size and orientation go, as attributes and as elements`() {
        let packet = """
            <d \(namespaces) tiff:Orientation="6" dc:a="1" exif:PixelXDimension='4'><tiff:ImageWidth>9</tiff:ImageWidth>\
            <tiff:Make>M</tiff:Make><tiff:Orientation/></d>
            """
        #expect(keep(packet) == "<d \(namespaces) dc:a=\"1\"><tiff:Make>M</tiff:Make></d>")
    }

    @Test func `thumbnails go with all that they hold, whatever their prefix`() {
        let packet = """
            <d xmlns:q="http://ns.adobe.com/xap/1.0/"><q:Thumbnails><r:Alt><r:li q:image="/9j/4AAQ"/>x</r:Alt>\
            </q:Thumbnails><q:Rating>3</q:Rating></d>
            """
        #expect(keep(packet) == "<d xmlns:q=\"http://ns.adobe.com/xap/1.0/\"><q:Rating>3</q:Rating></d>")
    }

    @Test func `depth maps and second pictures of phones go`() {
        let packet = """
            <d xmlns:GDepth="http://ns.google.com/photos/1.0/depthmap/" \
            xmlns:GImage="http://ns.google.com/photos/1.0/image/" GDepth:Near="1" GImage:Data="/9j/4AAQ" about=""/>
            """
        #expect(keep(packet)?.contains("/9j/") == false)
        #expect(keep(packet)?.contains("Near=") == false)
        #expect(keep(packet)?.contains("about=") == true)
    }

    @Test func `colour properties go when the pixels are converted`() {
        let packet = "<d \(namespaces) exif:ColorSpace=\"65535\"/>"
        #expect(keep(packet) == packet)
        #expect(keep(packet, isConverted: true) == "<d \(namespaces)/>")
    }

    @Test func `a long run of base64 anywhere drops the packet`() {
        let data = String(repeating: "QUJDRA", count: 200)
        #expect(keep("<d own:data='\(data)'/>") == nil)
        let lines = stride(from: 0, to: 1200, by: 60).map { _ in String(repeating: "A", count: 60) }
        #expect(keep("<d>\(lines.joined(separator: "&#xA;"))</d>") == nil)
        #expect(keep("<d>\(lines.joined(separator: "\n"))</d>") == nil)
        #expect(keep("<d>\(String(repeating: "words of a text ", count: 200))</d>") != nil)
    }

    private func credit(_ content: String, attributes: String = "", _ kinds: Set<MetadataKind>) -> String? {
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="\(Self.rdf)" \(namespaces) \
            xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:plus="http://ns.useplus.org/ldf/xmp/1.0/" \
            xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/"><rdf:Description rdf:about=""\(attributes)>\(content)\
            </rdf:Description></rdf:RDF></x:xmpmeta>
            """
        let carried = ImageMetadata(xmp: Blob(Array(packet.utf8))).carried(by: .only(kinds), shape: shape).xmp
        return carried.map { carried in
            let text = String(decoding: carried.bytes, as: UTF8.self)
            let start = text.firstRange(of: "<rdf:Description")?.upperBound ?? text.startIndex
            let inner = text[start...].drop { $0 != ">" }.dropFirst()
            return String(inner.prefix(upTo: inner.firstRange(of: "</rdf:Description>")?.lowerBound ?? inner.endIndex))
        }
    }

    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

    /// What Photoshop keeps of the pictures that a composite was made of.
    private let pantry = """
        <xmpMM:Pantry><rdf:Bag><rdf:li><rdf:Description dc:title="theirs"><dc:creator><rdf:Seq><rdf:li>Other</rdf:li></rdf:Seq>\
        </dc:creator></rdf:Description></rdf:li></rdf:Bag></xmpMM:Pantry>
        """

    @Test func `the credit of pictures that a composite was made of is not the picture's`() {
        let own = "<dc:creator><rdf:Seq><rdf:li>Jane</rdf:li></rdf:Seq></dc:creator>"
        #expect(credit(pantry + own, [.creator, .description]) == own)
        #expect(credit(own + pantry, [.creator, .description]) == own)
        #expect(credit(pantry, [.creator, .description]) == nil)
    }

    @Test func `no property comes twice, and none in another`() {
        #expect(credit("<dc:title>a</dc:title><dc:title>b</dc:title>", [.description]) == "<dc:title>a</dc:title>")
        #expect(
            credit("<dc:title>b</dc:title>", attributes: " dc:title='a'", [.description]) == "<dc:title>a</dc:title>")
        let nested = "<photoshop:Headline>Regatta<photoshop:City>Oslo</photoshop:City></photoshop:Headline>"
        #expect(credit(nested, [.gps]) == nil)
        #expect(credit(nested, [.description]) == "<photoshop:Headline>Regatta</photoshop:Headline>")
    }

    @Test func `a value with qualifiers is carried without them, and an empty one is not`() {
        let plain = "<photoshop:Headline>Regatta</photoshop:Headline>"
        for qualified in [
            "<photoshop:Headline rdf:parseType='Resource'><rdf:value>Regatta</rdf:value><x:q/></photoshop:Headline>",
            "<photoshop:Headline><rdf:Description rdf:value='Regatta'/></photoshop:Headline>",
            "<photoshop:Headline><rdf:Description><rdf:value>Regatta</rdf:value></rdf:Description></photoshop:Headline>",
        ] {
            #expect(credit(qualified, [.description]) == plain)
        }
        #expect(credit("<photoshop:Headline/><dc:title> \n</dc:title>", [.description]) == nil)
    }

    @Test func `of who licenses a picture the name and the page are carried, and no address`() {
        let licensor = """
            <plus:Licensor><rdf:Seq><rdf:li rdf:parseType="Resource"><plus:LicensorName>Agency</plus:LicensorName>\
            <plus:LicensorURL rdf:resource='https://a.example/?q="1"'/><plus:LicensorTelephone1>555</plus:LicensorTelephone1>\
            </rdf:li></rdf:Seq></plus:Licensor>
            """
        #expect(
            credit(licensor, [.copyright])
                == """
                <plus:Licensor><rdf:Seq><rdf:li rdf:parseType="Resource"><plus:LicensorName>Agency</plus:LicensorName>\
                <plus:LicensorURL rdf:resource="https://a.example/?q=&quot;1&quot;"></plus:LicensorURL></rdf:li></rdf:Seq>\
                </plus:Licensor>
                """)
    }

    /// What `keep` makes of a packet beside a creator that IPTC alone tells.
    private func told(_ packet: String) -> String? {
        let records: [UInt8] = [0x1C, 2, 80, 0, 4] + Array("Jane".utf8)
        return ImageMetadata(xmp: Blob(Array(packet.utf8)), iptc: Blob(records))
            .carried(by: .keep, shape: shape, holdsIPTC: false).xmp.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test func `what IPTC alone tells stands behind a kept packet, in a description of its own`() {
        let creator = "<dc:creator><rdf:Seq><rdf:li>Jane</rdf:li></rdf:Seq></dc:creator>"
        let further = """
            <rdf:Description xmlns:rdf="\(Self.rdf)" rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">\(creator)\
            </rdf:Description>
            """
        let head = "<?xpacket begin=''?><x:m xmlns:x='adobe:ns:meta/'><r:RDF xmlns:r='\(Self.rdf)'>"
        let own = "<r:Description r:about='uuid:1' xmlns:o='own:' o:n='1'/>"
        let tail = "</r:RDF></x:m>\n<?xpacket end='w'?>"
        #expect(told(head + own + tail) == head + own + further + tail)
        let named = own + "<r:Description xmlns:d='http://purl.org/dc/elements/1.1/' d:creator='Ann'/>"
        #expect(told(head + named + tail) == head + named + tail)
        let whole = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="\(Self.rdf)">\
            <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">\(creator)</rdf:Description></rdf:RDF>\
            </x:xmpmeta>
            """
        for empty in ["<d/>", "<r:RDF xmlns:r='\(Self.rdf)'/>", "<d>"] { #expect(told(empty) == whole, "\(empty)") }
    }

    @Test(arguments: [
        "<d>", "</d>", "<d></e>", "<d a></d>", "<d a=b/>", "<d a='1/>", "<", "<!DOCTYPE d><d/>", "<d><![CDATA[x]]></d>",
        "<d", "<?x", "<!-- x", "< d/>", "<d a='<'/>",
    ])
    func `what is not understood is dropped`(packet: String) {
        #expect(keep(packet) == nil)
    }

    @Test func `damaged packets never crash`() {
        var random = SplitMix(state: 11)
        let packet = Array("<d \(namespaces) tiff:Orientation=\"6\"><xmp:Thumbnails>t</xmp:Thumbnails></d>".utf8)
        for _ in 0..<20_000 {
            var damaged = packet
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...127, using: &random)
            }
            _ = keep(String(decoding: damaged, as: UTF8.self))
        }
    }
}
