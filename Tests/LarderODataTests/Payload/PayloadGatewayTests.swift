import Testing

@testable import LarderOData

/// Responses in the shapes of an SAP Gateway, shortened: what such a system sends in V2 and V4.
@Suite("Payloads of an SAP Gateway", .timeLimit(.minutes(5)))
struct PayloadGatewayTests {
  @Test("V2: a page with the count, inline items, decimals and dates as text")
  func v2Page() throws {
    let text = ##"""
      {"d":{"__count":"37","results":[{"__metadata":{"id":"http://gw/A_SalesOrder('4712')","uri":"http://gw/A_SalesOrder('4712')",
       "type":"S.A_SalesOrderType","etag":"W/\"datetime'2025-08-31T00%3A00%3A00'\""},"SalesOrder":"4712",
       "CustomerPurchaseOrderDate":null,"TotalNetAmount":"24786.720","SalesOrderDate":"/Date(1756512000000)/",
       "to_Item":{"results":[{"__metadata":{"id":"i","uri":"i","type":"S.A_SalesOrderItemType"},"SalesOrderItem":"10",
        "to_SalesOrder":{"__deferred":{"uri":"i/to_SalesOrder"}}}]},
       "to_Partner":{"__deferred":{"uri":"http://gw/A_SalesOrder('4712')/to_Partner"}}}],
       "__next":"http://gw/A_SalesOrder?$skiptoken=30"}}
      """##
    let page = try #require(try readPayload(text).collection)
    #expect(page.count == 37)
    #expect(page.nextLink == "http://gw/A_SalesOrder?$skiptoken=30")
    let order = page.entities[0]
    #expect(order.etag == "W/\"datetime'2025-08-31T00%3A00%3A00'\"")
    #expect(order["TotalNetAmount"] == .string("24786.720"))
    #expect(order["SalesOrderDate"] == .string("/Date(1756512000000)/"))
    #expect(order.properties.map(\.name).count == 4)
    #expect(order.navigationLinks.map(\.name) == ["to_Item", "to_Partner"])
    let item = try #require(order.navigationLink("to_Item")?.entities?.first)
    #expect(item.typeName == "S.A_SalesOrderItemType")
    #expect(item.navigationLink("to_SalesOrder")?.url == "i/to_SalesOrder")
  }

  @Test("V2: one selected property is still an entity, by its __metadata")
  func v2Select() throws {
    let entity = try readPayload(##"{"d":{"__metadata":{"uri":"u","type":"S.T"},"SalesOrder":"4712"}}"##).entity
    #expect(entity?["SalesOrder"] == .string("4712"))
  }

  @Test("V2: a function import's results, by the kind that the caller expects")
  func v2Function() throws {
    let text = ##"{"d":{"Total":"5"}}"##
    #expect(try readPayload(text).property?.name == "Total")
    #expect(try readPayload(text, options: PayloadOptions(expected: .entity)).entity?["Total"] == .string("5"))
    let wrapped = ##"{"d":{"GetOrder":{"__metadata":{"uri":"u","type":"S.T"},"SalesOrder":"1"}}}"##
    #expect(try readPayload(wrapped).entity?["SalesOrder"] == .string("1"))
  }

  @Test("V4: rows with their ETags, numbers with all digits")
  func v4Page() throws {
    let text = ##"""
      {"@odata.context":"http://gw/$metadata#SalesOrder","@odata.count":37,"value":[
       {"@odata.etag":"W/\"x\"","SalesOrder":"4712","TotalNetAmount":24786.720,"SDDocumentReason":null}]}
      """##
    let page = try #require(try readPayload(text).collection)
    #expect(page.entities[0].etag == "W/\"x\"")
    #expect(try page.entities[0]["TotalNetAmount"]?.text() == "24786.720")
  }

  @Test("The text of $count", arguments: ["37", "\u{FEFF}37", " 37\r\n"])
  func count(text: String) throws {
    #expect(try ODataPayload(countText: Array(text.utf8)) == .count(37))
  }

  @Test("Invalid counts are rejected", arguments: ["", "x", "-1", "1.5", "99999999999999999999"])
  func noCount(text: String) {
    #expect(throws: PayloadError.self) { try ODataPayload(countText: Array(text.utf8)) }
  }

  @Test("An error that the handler throws is rethrown unchanged")
  func handlerError() throws {
    struct Full: Error {}
    final class Failing: PayloadHandlerBase {
      override func property(_ name: PayloadName, _ scalar: PayloadScalar) throws { throw Full() }
    }
    var reader = JSONPayloadReader()
    #expect(throws: Full.self) { try reader.read(Array(##"{"value":[{"a":1}]}"##.utf8), into: Failing()) }
  }
}
