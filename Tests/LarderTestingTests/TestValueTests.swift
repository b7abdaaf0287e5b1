import LarderHTTP
import LarderOData
import LarderTesting
import Testing

@Suite("Test values", .timeLimit(.minutes(2)))
struct TestValueTests {
  @Test(
    "Numbers that JSON cannot write are the strings of OData (JSON Format 4.01 §7.1)",
    arguments: [
      (.nan, #""NaN""#), (.infinity, #""INF""#), (-.infinity, #""-INF""#), (2, "2"), (2.5, "2.5"), (1e300, "1e+300"),
    ] as [(Double, String)])
  func numbers(_ number: Double, _ json: String) {
    #expect(ODataTestValue(number).description == json && ODataTestValue(floatLiteral: number).description == json)
    let double = ODataTestValue(number).double
    #expect(double == number || double?.isNaN == true && number.isNaN)
  }
}
