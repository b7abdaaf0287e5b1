import Foundation
import LarderOData
import LarderTestSupport

/// A known fault of a server. Results may differ only by such faults.
struct Excuse: Sendable {
  /// A short name, unique.
  let id: String
  let server: Server
  /// The paragraph that the server does not keep.
  let paragraph: String
  /// What the server does instead.
  let fault: String
  /// How the fault changes a query or a result.
  let effect: Effect
  /// A request that shows the fault, and a check of its response.
  let proof: Proof

  /// The effect of a fault, as narrow as possible.
  enum Effect: Sendable {
    /// The server interprets the query differently. The query that the standard defines for that meaning must have its result.
    case query(@Sendable (inout QueryInterpretation) -> Void)
    /// The server's result is right, but in a wrong spelling. In the right spelling it must equal the store's.
    case result(@Sendable (String, QueryResult, EdmModel) -> QueryResult)
    /// A member is missing or additional. The query's text is not percent-encoded.
    case difference(@Sendable (String, ResultDifference) -> Bool)
  }

  enum Server: String, Sendable, CaseIterable { case mockSAPV2, mockSAPV4, odataPy }

  struct Proof: Sendable {
    let path: String
    let shows: @Sendable (PlainResponse) -> Bool
  }

  static func of(_ server: Server) -> [Excuse] { all.filter { $0.server == server } }

  static let all: [Excuse] = odataPy + mockSAPV4 + mockSAPV2
}

extension Excuse {
  private static let odataPy: [Excuse] = [
    Excuse(
      id: "odatapy-leaves-null-out", server: .odataPy, paragraph: "JSON Format 4.01 §7.1; Protocol 4.01 §8.2.8.6",
      fault: "a property that was never set is omitted, although the request has no omit-values",
      effect: .difference { query, difference in
        difference.kind == .onlyInStore && (difference.store == "null" || difference.store == "[]")
          && ShownMembers(query: query).has(difference.path)
      },
      proof: Proof(path: "AllTypes(3)") { $0.status == 200 && !$0.text.contains("\"Boolean\"") }),
    Excuse(
      id: "odatapy-adds-the-key", server: .odataPy, paragraph: "Protocol 4.01 §11.2.5.1",
      fault: "allowed: the result contains the key besides the selected properties",
      effect: .difference { query, difference in
        difference.kind == .onlyInService
          && ["ID", "Code", "Country", "Number", "Name", "Position"].contains(difference.member)
          && !ShownMembers(query: query).has(difference.path)
      },
      proof: Proof(path: "Suppliers?$select=Address") { $0.text.contains("\"Country\"") }),
    Excuse(
      id: "odatapy-not-null", server: .odataPy, paragraph: "URL Conventions 4.01 §5.1.1.1.3 to §5.1.1.1.6, §5.1.1.1.9",
      fault:
        "a comparison with null is null, not false: its 'not' is not true, and le and ge of two nulls are not true",
      effect: .query { $0.nullRelations = ["lt", "le", "gt", "ge", "in"] },
      proof: Proof(path: "Samples/$count?$filter=Int16%20eq%20null%20and%20not%20(Int16%20lt%200)") { $0.text == "0" }),
    Excuse(
      id: "odatapy-enumerations", server: .odataPy, paragraph: "URL Conventions 4.01 §5.1.1.1.1, §5.1.1.1.11",
      fault: "enumerations are stored as numbers and compared with names, so none is ever equal",
      effect: .query { $0.enumerationsDiffer = true },
      proof: Proof(path: "Products/$count?$filter=Color%20eq%20Larder.Shop.Color'Red'") { $0.text == "0" }),
    Excuse(
      id: "odatapy-crossjoin-inline", server: .odataPy,
      paragraph: "JSON Format 4.01 §4.5.12; URL Conventions 4.01 §4.15",
      fault: "$crossjoin returns entities inline without $expand, instead of links",
      effect: .query { $0.crossjoinsInLine = true },
      proof: Proof(path: "$crossjoin(Shelves,Categories)?$filter=Categories/ID%20eq%201") {
        !$0.text.contains("navigationLink")
      }),
    Excuse(
      id: "odatapy-crossjoin-decimals", server: .odataPy, paragraph: "JSON Format 4.01 §7.1",
      fault: "decimals of $crossjoin are converted to floating-point numbers",
      effect: .difference { query, difference in
        guard query.hasPrefix("$crossjoin"), difference.kind == .value, let near = Double(difference.store) else {
          return false
        }
        return Double(difference.service) == near
      },
      proof: Proof(path: "$crossjoin(Categories,Samples)?$filter=Samples/Decimal%20gt%201000000000000") {
        $0.text.contains("1.2345678901234568e+18")
      }),
    Excuse(
      id: "odatapy-mod-sign", server: .odataPy, paragraph: "URL Conventions 4.01 §5.1.1.2.6",
      fault: "the remainder has the divisor's sign",
      effect: .query { $0.modOfDivisor = true },
      proof: Proof(path: "Samples/$count?$filter=Int16%20mod%203%20lt%200%20or%20Double%20mod%203.5%20lt%200") {
        $0.text == "0"
      }),
    Excuse(
      id: "odatapy-single-digits", server: .odataPy,
      paragraph: "CSDL 4.01 §3.3; URL Conventions 4.01 §5.1.1.2.6, §5.1.1.18",
      fault:
        "a Single is stored as the Double with the same digits: remainders differ, and products exceed the range of Single",
      effect: .difference { query, difference in
        guard difference.member == "Made", difference.kind == .value, query.contains("$compute=(Single "),
          let number = Double(difference.service)
        else { return false }
        if difference.store.hasSuffix("INF'") { return Float(number) == Float(difference.store.filter { $0 != "'" }) }
        // The greatest Single: as the server sends it, and its exact value.
        let greatest = (sent: 3.4028234e38, exact: Double(Float.greatestFiniteMagnitude))
        guard let place = query.firstRange(of: " mod ")?.upperBound,
          let divisor = Double(query[place...].prefix { $0 != ")" })
        else { return false }
        return number == greatest.sent.truncatingRemainder(dividingBy: divisor)
          && Double(difference.store) == greatest.exact.truncatingRemainder(dividingBy: divisor)
      },
      proof: Proof(path: "AllTypes(1)?$compute=Single%20mod%205%20as%20Made&$select=Made") {
        $0.text.contains("\"Made\":2.0")
      }),
    Excuse(
      id: "odatapy-28-digits", server: .odataPy,
      paragraph: "Data Aggregation 4.0 §3.2.1.3.1; URL Conventions 4.01 §5.1.1.2.1, §5.1.1.2.2",
      fault: "sums and differences of decimals are rounded to 28 digits, regardless of their scale",
      effect: .difference { query, difference in
        let isSum = query.contains(" with sum as \(difference.member)")
        let isComputed = difference.member == "Made" && query.contains("$compute=(Decimal ")
        guard isSum || isComputed, difference.kind == .value,
          let rounded = ServiceSpelling.in28Digits(difference.store)
        else { return false }
        return ODataDecimal(difference.service) == rounded
      },
      proof: Proof(path: "AllTypes?$apply=aggregate(Decimal%20with%20sum%20as%20Made0)") {
        $0.text.contains("\"Made0\":123456789012345678901234.0123}")
      }),
    Excuse(
      id: "odatapy-max-beside-nan", server: .odataPy,
      paragraph: "Data Aggregation 4.0 §3.2.1.3.3; URL Conventions 4.01 §5.1.1.1.3",
      fault: "whether NaN is the greatest number depends on the order of the rows",
      effect: .difference { query, difference in
        query.contains(" with max as \(difference.member)") && difference.kind == .value
          && difference.store == "'NaN'" && Double(difference.service) != nil
      },
      proof: Proof(path: "AllTypes?$apply=concat(\(greatest("One", [1, 2])),\(greatest("Other", [2, 1])))") {
        $0.text.contains("\"One\":3.4028234e+38") && $0.text.contains("\"Other\":\"NaN\"")
      }),
    Excuse(
      id: "odatapy-ref-options", server: .odataPy, paragraph: "Protocol 4.01 §11.2.8",
      fault: "query options on a collection of references are ignored",
      effect: .query { $0.ignoresReferenceOptions = true },
      proof: Proof(path: "Shelves/$ref?$filter=Label%20eq%20'nothing'") { $0.text.contains("Shelves(") }),
    Excuse(
      id: "odatapy-search-inside-words", server: .odataPy, paragraph: "Protocol 4.01 §11.2.6.6",
      fault: "allowed: $search finds parts of words, in nested values too",
      effect: .query { $0.searchesWordParts = true },
      proof: Proof(path: "Products/$count?$search=our") { $0.text != "0" }),
    Excuse(
      id: "odatapy-raw-value", server: .odataPy,
      paragraph: "URL Conventions 4.01 §4.7; ABNF dateTimeOffsetValue, nanInfinity",
      fault: "the raw value of a timestamp, a duration or NaN is Python's: a space for the T, 0:01:00 for PT1M, nan",
      effect: .result { query, result, model in
        ServiceSpelling.raw(query, result) { ServiceSpelling.fromPython($0, of: $1, model) }
      },
      proof: Proof(path: "Orders(2)/PlacedAt/$value") { $0.text.contains("2026-01-15 08") }),
    Excuse(
      id: "odatapy-levels-go-on", server: .odataPy, paragraph: "URL Conventions 4.01 §5.1.3.2",
      fault: "an entity that also occurs elsewhere in the result is expanded as there: one level more",
      effect: .difference { query, difference in
        guard difference.kind == .onlyInService, difference.member == "Next",
          let levels = query.firstRange(of: "$levels=").flatMap({ Int(String(query[$0.upperBound])) })
        else { return false }
        return difference.path.split(separator: "/").filter { $0 == "Next" }.count == levels + 1
      },
      proof: Proof(path: "Shelves?$expand=Next($levels=1)") { $0.text.contains("\"Next\":{") }),
    Excuse(
      id: "odatapy-raw-enumeration", server: .odataPy, paragraph: "URL Conventions 4.01 §4.7; ABNF enumerationValue",
      fault: "the raw value of an enumeration is its number, not its name",
      effect: .result { query, result, model in
        ServiceSpelling.raw(query, result) { ServiceSpelling.member($0, of: $1, model) }
      },
      proof: Proof(path: "Products(35)/Color/$value") { Int($0.text) != nil }),
  ]

  /// The greatest Single of rows of `AllTypes`, taken in the given order; the second has NaN.
  private static func greatest(_ name: String, _ rows: [Int]) -> String {
    let rows = rows.map { "filter(ID%20eq%20\($0))" }.joined(separator: ",")
    return "concat(\(rows))/aggregate(Single%20with%20max%20as%20\(name))"
  }

  private static let mockSAPV4: [Excuse] = [
    Excuse(
      id: "mock-sap-leaves-messages-out", server: .mockSAPV4, paragraph: "JSON Format 4.01 §7.1, §7.3",
      fault: "SAP__Messages is declared, not nullable, and never sent",
      effect: .difference { _, difference in
        difference.kind == .onlyInStore && difference.member == "SAP__Messages"
          && (difference.store == "[]" || difference.store == "null")
      },
      proof: Proof(path: "Product?$top=1") { $0.status == 200 && !$0.text.contains("SAP__Messages") }),
    Excuse(
      id: "mock-sap-property-in-v2", server: .mockSAPV4, paragraph: "JSON Format 4.01 §11",
      fault: "a single property is returned in V2's envelope and spelling, and null too, for which V4 requires 204",
      effect: .result { query, result, model in
        guard !query.contains("?"), query.contains(")/"), case .content(let bytes) = result,
          let property = try? JSONNode(bytes)["d"], let member = property.members?.first, property.members?.count == 1
        else { return result }
        if member.value == .null { return .nothing }
        let value = ServiceSpelling.fromV2(member.value, of: member.name, model)
        return .content(ServiceSpelling.bytes(.object([.init("value", value)])))
      },
      proof: Proof(path: "Product('TG12')/CreationDate") { $0.text.contains("\"d\"") }),
    Excuse(
      id: "mock-sap-apply-in-v2", server: .mockSAPV4, paragraph: "JSON Format 4.01 §7.1",
      fault: "grouping properties of $apply are spelled as in V2: decimals as strings, /Date(…)/",
      effect: .result { query, result, model in
        guard query.contains("groupby("), case .content(let bytes) = result, let node = try? JSONNode(bytes),
          let rows = node["value"]?.items
        else { return result }
        let spelled = rows.map { row in
          JSONNode.object(
            (row.members ?? []).map { .init($0.name, ServiceSpelling.fromV2($0.value, of: $0.name, model)) })
        }
        return .content(ServiceSpelling.bytes(.object([.init("value", .array(spelled))])))
      },
      proof: Proof(path: "Product?$apply=groupby((CreationDate))") { $0.text.contains("/Date(") }),
    Excuse(
      id: "mock-sap-raw-moment", server: .mockSAPV4, paragraph: "URL Conventions 4.01 §4.7; ABNF primitiveValue",
      fault: "the raw value of an Edm.DateTimeOffset is spelled as in V2's JSON, that of an Edm.Boolean as in Python",
      effect: .result(rawValue),
      proof: Proof(path: "Product('TG12')/CreationDate/$value") { $0.text.hasPrefix("/Date(") }),
    Excuse(
      id: "mock-sap-average-of-three-digits", server: .mockSAPV4, paragraph: "Data Aggregation 4.0 §3.2.1.3",
      fault: "allowed: averages have three decimal places",
      effect: .difference { query, difference in
        guard query.contains(" with average as \(difference.member)"), difference.kind == .value,
          let one = Double(difference.service), let other = Double(difference.store)
        else { return false }
        return abs(one - other) <= 0.00051
      },
      proof: Proof(path: "Product?$apply=groupby((WeightUnit),aggregate(GrossWeight%20with%20average%20as%20Made0))") {
        $0.text.contains("4.489")
      }),
    Excuse(
      id: "mock-sap-null", server: .mockSAPV4, paragraph: "URL Conventions 4.01 §5.1.1.1.1 to §5.1.1.1.6, §5.1.1.1.9",
      fault:
        "SQL's logic: a comparison with null, except the literal, is null, also le and ge of two nulls, and so is its 'not'",
      effect: .query { $0.nullRelations = ["eq", "ne", "lt", "le", "gt", "ge"] },
      proof: Proof(path: nullPartners + "%20and%20not%20(ReferenceBusinessPartner%20gt%20'1')") { $0.text == "0" }),
  ]

  /// Partners of orders without a reference: there are some.
  private static let nullPartners = "SalesOrderHeaderPartner/$count?$filter=ReferenceBusinessPartner%20eq%20null"

  private static let rawValue: @Sendable (String, QueryResult, EdmModel) -> QueryResult = {
    query, result, model in
    ServiceSpelling.raw(query, result) { text, name in
      if text == "True" || text == "False" { return text.lowercased() }
      return ServiceSpelling.fromV2(.string(text), of: name, model).string
    }
  }

  // The V2 conventions do not define comparisons with null. The store follows [MS-ODATA]: as in V4, except for le and ge of two
  // nulls, which are false.
  private static let mockSAPV2: [Excuse] = [
    Excuse(
      id: "mock-sap-v2-null", server: .mockSAPV2,
      paragraph: "OData V2 URI Conventions 4.5 (silent), [MS-ODATA] 2.2.3.6.1.1.5",
      fault:
        "SQL's logic: null is neither equal nor unequal to anything, and the 'not' of such a comparison is not true",
      effect: .query { $0.nullRelations = ["eq", "ne", "lt", "le", "gt", "ge"] },
      proof: Proof(
        path:
          "A_SalesOrder/$count?$filter=PricingDate%20eq%20null%20and%20PricingDate%20ne%20datetime'2020-01-01T00:00:00'"
      ) {
        $0.text == "0"
      }),
    Excuse(
      id: "mock-sap-raw-date", server: .mockSAPV2, paragraph: "OData V2 URI Conventions 3.1, JSON Format 4",
      fault: "the raw value of an Edm.DateTime is spelled as in JSON",
      effect: .result(rawValue),
      proof: Proof(path: "SalesOrderSet('500000007')/CreatedAt/$value") { $0.text.hasPrefix("/Date(") }),
  ]
}

extension ResultDifference {
  /// The name of the member that differs.
  var member: String { String(path.split(separator: "/").last?.prefix { $0 != "[" } ?? "") }
}
