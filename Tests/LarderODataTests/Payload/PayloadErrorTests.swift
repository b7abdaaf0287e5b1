import Testing

@testable import LarderOData

@Suite("Error payloads and messages", .timeLimit(.minutes(5)))
struct PayloadErrorTests {
  @Test("V4 (JSON Format 4.01 §21.1)")
  func v4() throws {
    let error = try #require(
      try readPayload(
        ##"""
        {"error":{"code":"501","message":"Unsupported","target":"query","details":[{"code":"301","target":"$search",
         "message":"$search","@Common.numericSeverity":3}],"innererror":{"trace":["a"]},"@my.t":"x"}}
        """##
      ).error)
    #expect(error.description == "501: Unsupported")
    #expect(error.target == "query")
    #expect(error.details == [.init(code: "301", message: "$search", target: "$search", severity: .warning)])
    #expect(
      error.innerError
        == .complex(ODataComplexValue(properties: [ODataProperty("trace", .collection([.string("a")]))])))
    #expect(error.annotations == [ODataAnnotation(term: "my.t", value: .string("x"))])
  }

  @Test("V2 with SAP Gateway's inner error")
  func sap() throws {
    let error = try #require(
      try readPayload(
        ##"""
        {"error":{"code":"SY/530","message":{"lang":"en","value":"Not found"},"innererror":{"transactionid":"4A2",
         "timestamp":"20260115","Error_Resolution":{"SAP_Transaction":"Run /IWFND/ERROR_LOG","SAP_Note":"See 1797736"},
         "errordetails":[{"code":"A","message":"first","propertyref":"/Name","severity":"error","target":""},
          {"code":"B","message":"second","longtext_url":"/long","severity":"info"}]}}}
        """##
      ).error)
    #expect(error.code == "SY/530")
    #expect(error.message == "Not found")
    #expect(error.messageLanguage == "en")
    #expect(error.transactionID == "4A2")
    #expect(error.errorResolution.map(\.name) == ["SAP_Transaction", "SAP_Note"])
    #expect(error.details.map(\.severity) == [.error, .info])
    #expect(error.details[0].target == "/Name")
    #expect(error.details[1].longTextURL == "/long")
  }

  @Test("V3 light, and members in any order")
  func v3() throws {
    let error = try readPayload(##"{"odata.error":{"message":{"value":"m","lang":"de"},"code":null}}"##).error
    #expect(error?.message == "m")
    #expect(error?.messageLanguage == "de")
    #expect(error?.code == "")
  }

  @Test("An entity may have a property 'error'")
  func noError() throws {
    #expect(try readPayload(##"{"@odata.context":"#L/$entity","error":"text"}"##).entity?["error"] == .string("text"))
  }

  @Test(
    "An error after rows that were already sent is thrown, not lost (§21.2)",
    arguments: [
      ##"{"value":[{"a":"1"}],"error":{"code":"x","message":"late"}}"##,
      ##"{"value":[{"a":"1"}],"@odata.error":{"code":"x","message":"late"}}"##,
      ##"{"odata.metadata":"#A","value":[{"a":"1"}],"odata.error":{"code":"x","message":{"value":"late"}}}"##,
      ##"{"value":[{"a":"1"},{"b":OData-Error: {"code":"x","message":"late"}"##,
    ])
  func inStream(text: String) {
    let bytes = Array(text.utf8)
    let whole = outcome([bytes])
    guard case .failure(let error)? = whole, case .inStreamError(let payload) = error.problem else {
      Issue.record("\(String(describing: whole))")
      return
    }
    #expect(payload.message == "late")
    #expect(payload.code == "x")
    #expect(outcome(bytes.map { [$0] }) == whole)
  }

  @Test("The header sap-message of V2, as JSON and as XML")
  func sapMessage() throws {
    let json = try ODataMessage(
      sapMessage:
        ##"{"code":"M/1","message":"Saved","severity":"info","target":"","details":[{"code":"M/2","message":"Check","severity":"warning","target":"Name"}]}"##
    )
    #expect(json.severity == .info)
    #expect(json.details.map(\.target) == ["Name"])
    let xml = try ODataMessage(
      sapMessage: """
        <?xml version="1.0"?><notification xmlns:xml="x"><code>M/1</code><message>Saved &amp; &#x41;</message>\
        <severity>info</severity><target/><details><detail><code>M/2</code><message>Check</message>\
        <severity>warning</severity><target>Name</target></detail></details></notification>
        """)
    #expect(xml.text == "Saved & A")
    #expect(xml.details == json.details)
    #expect(throws: PayloadError.self) { try ODataMessage(sapMessage: "<a/>") }
    #expect(throws: PayloadError.self) { try ODataMessage(sapMessage: "[]") }
    #expect(throws: PayloadError.self) { try ODataMessage(sapMessage: "") }
  }

  @Test("The header sap-messages of V4")
  func sapMessages() throws {
    let messages = try ODataMessage.messages(
      sapMessages:
        ##"[{"code":"A","message":"m","numericSeverity":4,"target":"/T","additionalTargets":["B"],"transition":true,"longtextUrl":"/l"}]"##
    )
    #expect(
      messages == [
        ODataMessage(
          code: "A", text: "m", severity: .error, target: "/T", additionalTargets: ["B"], isTransition: true,
          longTextURL: "/l")
      ])
    #expect(throws: PayloadError.self) { try ODataMessage.messages(sapMessages: "{}") }
    #expect(throws: PayloadError.self) { try ODataMessage.messages(sapMessages: "[") }
  }
}
