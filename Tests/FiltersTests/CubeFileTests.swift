import Filters
import Kernels
import Testing

/// `.cube` files.
struct CubeFileTests {
    private func table(_ text: String) throws(CubeFile.Problem) -> ColorCube { try CubeFile.table(Array(text.utf8)) }

    private func problem(_ text: String) -> String? {
        do {
            _ = try table(text)
            return nil
        } catch {
            return error.description
        }
    }

    private static let corners = """
        0 0 0
        1 0 0
        0 1 0
        1 1 0
        0 0 1
        1 0 1
        0 1 1
        1 1 1
        """

    @Test func `a table of whole colours is read, red first`() throws {
        let cube = try table("# made by hand\r\nTITLE \"Ünique\"\r\n\r\nLUT_3D_SIZE 2\n\(Self.corners)\n")
        #expect(cube.size == 2)
        let color = SIMD3<Float>(0.25, 0.5, 0.75)
        #expect(cube.color(color) == color)
    }

    @Test func `a domain tells what the ends are`() throws {
        let cube = try table("LUT_1D_SIZE 2\nDOMAIN_MIN 0 0 0\nDOMAIN_MAX 2 2 4\n 0 0 0\n\t1.0 1e0 +1\n")
        #expect(cube.color(SIMD3(1, 1, 1)) == SIMD3(0.5, 0.5, 0.25))
        let resolve = try table("LUT_3D_SIZE 2\nLUT_3D_INPUT_RANGE 0.0 2.0\n\(Self.corners)")
        #expect(resolve.color(SIMD3(1, 1, 2)) == SIMD3(0.5, 0.5, 1))
    }

    @Test func `a mark of Unicode and any ends of lines are as good`() throws {
        let text = "\u{FEFF}# mark\rTITLE \"a\"\rLUT_1D_SIZE 2\r\n\r\n0 0 0\r1 1 1"
        #expect(try table(text).size == 2)
        #expect(problem("TITLE \"a\"\r\n\r\nnonsense")?.hasPrefix("line 3: 'nonsense'") == true)
    }

    @Test func `a hostile file is refused before it takes much memory`() {
        let long = [UInt8](repeating: 0x31, count: 10_000)
        let error = #expect(throws: CubeFile.Problem.self) { try CubeFile.table(long) }
        #expect(error?.description == "line 1: the line is too long for a table")
        #expect(throws: CubeFile.Problem.self) { try CubeFile.table([UInt8](repeating: 10, count: 1_000_000)) }
    }

    @Test(arguments: [
        ("", "it has no 'LUT_3D_SIZE' or 'LUT_1D_SIZE'; is it a .cube file?"),
        ("LUT_3D_SIZE 1", "line 1: 'LUT_3D_SIZE' needs a whole number of 2 to 129"),
        ("LUT_3D_SIZE 130", "line 1: 'LUT_3D_SIZE' needs a whole number of 2 to 129"),
        ("LUT_1D_SIZE many", "line 1: 'LUT_1D_SIZE' needs a whole number of 2 to 65536"),
        ("LUT_3D_SIZE", "line 1: 'LUT_3D_SIZE' needs a whole number of 2 to 129"),
        ("LUT_1D_SIZE 2\nLUT_3D_SIZE 2", "line 2: a second table; each file has one, so write two filters 'lut'"),
        ("0 0 0", "line 1: numbers before 'LUT_3D_SIZE' or 'LUT_1D_SIZE'"),
        ("LUT_1D_SIZE 2\n0 0 0\n1 1", "line 3: three numbers belong here"),
        ("LUT_1D_SIZE 2\n0 0 0\n1 1 1x", "line 3: '1x' is no number of a table"),
        ("LUT_1D_SIZE 2\n0 0 0\n1 1 1e9", "line 3: '1e9' is no number of a table"),
        ("LUT_1D_SIZE 2\n0 0 0\n1 nan 1", "line 3: 'nan' is no number of a table"),
        ("LUT_1D_SIZE 2\n0 0 0", "it has 1 colours, and its size needs 2. Is the file cut short?"),
        ("LUT_1D_SIZE 2\n0 0 0\n0 0 0\n0 0 0", "line 4: more than 2 colours, which its size allows"),
        ("LUT_1D_SIZE 2\nDOMAIN_MIN 1 0 0\n0 0 0\n1 1 1", "its domain ends before it begins"),
        ("\u{89}PNG", "line 1: '\u{89}PNG' is no keyword of a .cube file; is it another kind of file?"),
    ])
    func `a file that is no table is refused with its line`(text: String, message: String) {
        #expect(problem(text) == message)
    }

    @Test func `damage anywhere is an error and no crash`() {
        let good = Array("TITLE \"a\"\nLUT_3D_SIZE 2\nDOMAIN_MAX 1 1 1\n\(Self.corners)\n".utf8)
        for cut in good.indices { _ = try? CubeFile.table(Array(good[..<cut])) }
        for index in good.indices {
            for byte: UInt8 in [0, 10, 32, 45, 57, 255] {
                var bytes = good
                bytes[index] = byte
                _ = try? CubeFile.table(bytes)
            }
        }
    }
}
