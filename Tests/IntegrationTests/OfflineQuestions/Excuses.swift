import TestSupport

/// A fault of a server: answers may differ there, and nowhere else.
struct Excuse: Sendable {
  /// A short name, unique.
  let id: String
  let server: Server
  /// The paragraph that the server does not keep.
  let paragraph: String
  /// What it does instead.
  let fault: String
  /// Whether a difference in the answer to a question is this fault's. The question's text is not percent-encoded.
  let covers: @Sendable (String, AnswerDifference) -> Bool
  /// A request that shows the fault, and what its answer has where the fault is there.
  let proof: Proof

  enum Server: String, Sendable, CaseIterable { case mockSAPV2, mockSAPV4, odataPy }

  struct Proof: Sendable {
    let path: String
    let shows: @Sendable (PlainResponse) -> Bool
  }

  static func of(_ server: Server) -> [Excuse] { all.filter { $0.server == server } }
}

extension Excuse {
  /// Members that a service leaves out where they are null, or says for the key though it was not selected.
  fileprivate static func member(_ difference: AnswerDifference) -> String {
    let last = difference.path.split(separator: "/").last.map(String.init) ?? ""
    return last.prefix { $0 != "[" }.description
  }

  /// Whether only null stands where the service has nothing; not for a member that was not asked for.
  fileprivate static func isLeftOut(_ question: String, _ difference: AnswerDifference) -> Bool {
    guard difference.kind == .onlyInStore, difference.store == "null" || difference.store == "[]" else { return false }
    let names = difference.path.split(separator: "/").map { $0.prefix { $0 != "[" } }.filter { $0 != "value" }
    let selects = question.contains("?$select=") || question.contains("&$select=")
    return !selects || names.contains { question.contains($0) }
  }

  fileprivate static let relations = [" lt ", " le ", " gt ", " ge ", " in "]

  /// Whether a question has a relation below `not`, which null operands make false, and so true.
  fileprivate static func negatesRelation(_ question: String) -> Bool {
    guard let begin = question.firstRange(of: "not (") else { return false }
    return relations.contains { question[begin.upperBound...].contains($0) }
  }

  /// The words that stand behind an operator.
  fileprivate static func operands(_ question: String, behind name: String) -> [String] {
    question.split(separator: name).dropFirst().map { String($0.prefix { !" ),&;".contains($0) }) }
  }

  fileprivate static func isProperty(_ operand: String) -> Bool {
    operand.first?.isLetter == true && !operand.contains("'") && !["true", "false", "null"].contains(operand)
  }

  static let all: [Excuse] = odataPy + mockSAPV4 + mockSAPV2

  private static let odataPy: [Excuse] = [
    Excuse(
      id: "odatapy-leaves-null-out", server: .odataPy, paragraph: "JSON Format 4.01 §7.1; Protocol 4.01 §8.2.8.6",
      fault: "a property that was never set is left out, though nobody asked for omit-values",
      covers: isLeftOut,
      proof: Proof(path: "AllTypes(3)") { $0.status == 200 && !$0.text.contains("\"Boolean\"") }),
    Excuse(
      id: "odatapy-adds-the-key", server: .odataPy, paragraph: "Protocol 4.01 §11.2.5.1",
      fault: "no fault, a freedom: it answers with the key beside what was selected",
      covers: { question, difference in
        difference.kind == .onlyInService && question.contains("$select=")
          && ["ID", "Code", "Country", "Number", "Name", "Position"].contains(member(difference))
      },
      proof: Proof(path: "Suppliers?$select=Address") { $0.text.contains("\"Country\"") }),
    Excuse(
      id: "odatapy-not-null", server: .odataPy, paragraph: "URL Conventions 4.01 §5.1.1.1.3 to §5.1.1.1.6, §5.1.1.1.9",
      fault: "a relation with null is null there, not false, so 'not' of it is not true",
      covers: { question, _ in negatesRelation(question) },
      proof: Proof(path: "Samples/$count?$filter=Int16%20eq%20null%20and%20not%20(Int16%20lt%200)") { $0.text == "0" }),
    Excuse(
      id: "odatapy-enumerations", server: .odataPy, paragraph: "URL Conventions 4.01 §5.1.1.1.1, §5.1.1.1.11",
      fault: "its store keeps enumerations as numbers and compares them with names, so none is ever equal",
      covers: { question, _ in question.contains("Larder.Shop.Color'") || question.contains("Larder.Shop.Labels'") },
      proof: Proof(path: "Products/$count?$filter=Color%20eq%20Larder.Shop.Color'Red'") { $0.text == "0" }),
    Excuse(
      id: "odatapy-crossjoin-inline", server: .odataPy,
      paragraph: "JSON Format 4.01 §4.5.12; URL Conventions 4.01 §4.15",
      fault: "$crossjoin gives entities inline without $expand, where there should be links",
      covers: { question, difference in
        question.hasPrefix("$crossjoin") && (difference.kind == .onlyInService || difference.kind == .onlyInStore)
      },
      proof: Proof(path: "$crossjoin(Shelves,Categories)?$filter=Categories/ID%20eq%201") {
        !$0.text.contains("navigationLink")
      }),
    Excuse(
      id: "odatapy-mod-sign", server: .odataPy, paragraph: "URL Conventions 4.01 §5.1.1.2.6",
      fault: "the remainder has the divisor's sign",
      covers: { question, _ in question.contains(" mod ") },
      proof: Proof(path: "Samples/$count?$filter=Int16%20mod%203%20lt%200") { $0.text == "0" }),
    Excuse(
      id: "odatapy-ref-options", server: .odataPy, paragraph: "Protocol 4.01 §11.2.8",
      fault: "query options on a collection of references are ignored",
      covers: { question, difference in question.contains("/$ref?") && difference.kind == .rowOnlyInService },
      proof: Proof(path: "Shelves/$ref?$filter=Label%20eq%20'nothing'") { $0.text.contains("Shelves(") }),
    Excuse(
      id: "odatapy-search-inside-words", server: .odataPy, paragraph: "Protocol 4.01 §11.2.6.6",
      fault: "no fault, a freedom: $search finds parts of words, in nested values too",
      covers: { question, _ in question.contains("$search=") },
      proof: Proof(path: "Products/$count?$search=our") { $0.text != "0" }),
    Excuse(
      id: "odatapy-raw-moment", server: .odataPy, paragraph: "URL Conventions 4.01 §4.7; ABNF dateTimeOffsetValue",
      fault: "the raw value of a moment or duration is Python's: a space for the T, 0:01:00 for PT1M",
      covers: { question, difference in
        guard question.hasSuffix("/$value"), difference.kind == .value else { return false }
        return difference.service.contains(" ")
          || difference.service.contains(":") && difference.store.contains("duration")
      },
      proof: Proof(path: "Orders(2)/PlacedAt/$value") { $0.text.contains("2026-01-15 08") }),
    Excuse(
      id: "odatapy-nan-order", server: .odataPy, paragraph: "Protocol 4.01 §11.2.6.2",
      fault: "NaN stands anywhere in an order: Python's sort takes no comparison with it for true",
      covers: { question, _ in
        question.contains("AllTypes?") && question.contains("$orderby=") && question.contains("Single")
      },
      proof: Proof(path: "AllTypes(2)?$select=Single") { $0.text.contains("NaN") }),
    Excuse(
      id: "odatapy-count-of-expand-lost", server: .odataPy, paragraph: "Protocol 4.01 §11.2.5.2.1, §11.2.6.5",
      fault: "an expanded set's count goes where the same set is expanded again below it",
      covers: { question, difference in
        question.contains("$count=true") && question.contains("$expand=") && difference.kind == .onlyInStore
          && difference.path.hasSuffix("@count")
      },
      proof: Proof(path: "Categories?$expand=Products($count=true;$expand=Category($expand=Products))") {
        $0.status == 200 && !$0.text.contains("Products@odata.count")
      }),
    Excuse(
      id: "odatapy-paths-from-contained", server: .odataPy, paragraph: "URL Conventions 4.01 §5.1.1.15",
      fault: "a path through a navigation property of a contained entity finds nothing",
      covers: { question, difference in
        question.hasPrefix("Orders") && question.contains("Items") && question.contains("Product/")
      },
      proof: Proof(path: "Orders(1)/Items?$filter=Product/Category/ID%20eq%201") {
        $0.status == 200 && !$0.text.contains("\"Position\":1")
      }),
  ]

  private static let mockSAPV4: [Excuse] = [
    Excuse(
      id: "mock-sap-leaves-messages-out", server: .mockSAPV4, paragraph: "JSON Format 4.01 §7.1, §7.3",
      fault: "SAP__Messages is declared, not nullable, and never sent",
      covers: { _, difference in
        difference.kind == .onlyInStore && member(difference) == "SAP__Messages"
          && (difference.store == "[]" || difference.store == "null")
      },
      proof: Proof(path: "Product?$top=1") { $0.status == 200 && !$0.text.contains("SAP__Messages") }),
    Excuse(
      id: "mock-sap-property-in-v2", server: .mockSAPV4, paragraph: "JSON Format 4.01 §11",
      fault: "a property on its own comes in V2's envelope and spelling, null too, which V4 answers by 204",
      covers: { question, difference in
        guard !question.contains("?"), question.contains(")/") else { return false }
        if difference.kind == .refusal { return difference.store == "nothing" && difference.service.contains("\"d\"") }
        return difference.path.split(separator: "/").count == 1
          && (difference.kind == .onlyInService || difference.kind == .onlyInStore)
      },
      proof: Proof(path: "Product('TG12')/CreationDate") { $0.text.contains("\"d\"") }),
    Excuse(
      id: "mock-sap-apply-in-v2", server: .mockSAPV4, paragraph: "JSON Format 4.01 §7.1",
      fault: "what $apply groups by is spelled as in V2: decimals as strings, /Date(…)/",
      covers: { question, difference in
        let text = difference.service.filter { $0 != "'" && $0 != "-" }
        return question.contains("$apply=groupby") || question.contains("/groupby(")
          ? difference.service.hasPrefix("'") && (text.hasPrefix("/Date(") || Double(text) != nil) : false
      },
      proof: Proof(path: "Product?$apply=groupby((CreationDate))") { $0.text.contains("/Date(") }),
    Excuse(
      id: "mock-sap-raw-moment", server: .mockSAPV4, paragraph: "URL Conventions 4.01 §4.7; ABNF primitiveValue",
      fault: "the raw value of an Edm.DateTimeOffset is spelled as in V2's JSON, that of an Edm.Boolean as in Python",
      covers: { question, difference in
        isRawDate(question, difference)
          || question.hasSuffix("/$value") && ["'True'", "'False'"].contains(difference.service)
      },
      proof: Proof(path: "Product('TG12')/CreationDate/$value") { $0.text.hasPrefix("/Date(") }),
    Excuse(
      id: "mock-sap-not-null", server: .mockSAPV4,
      paragraph: "URL Conventions 4.01 §5.1.1.1.3 to §5.1.1.1.6, §5.1.1.1.9",
      fault: "a relation with null is null there, not false, so 'not' of it is not true",
      covers: { question, _ in negatesRelation(question) || question.contains("not (") && question.contains(" ne ") },
      proof: Proof(path: nullPartners + "%20and%20not%20(ReferenceBusinessPartner%20gt%20'1')") { $0.text == "0" }),
    Excuse(
      id: "mock-sap-ne-null", server: .mockSAPV4, paragraph: "URL Conventions 4.01 §5.1.1.1.2",
      fault: "null is not unequal to a value there",
      covers: { question, _ in operands(question, behind: " ne ").contains { $0 != "null" } },
      proof: Proof(path: nullPartners + "%20and%20ReferenceBusinessPartner%20ne%20'1'") { $0.text == "0" }),
    Excuse(
      id: "mock-sap-null-equals-null", server: .mockSAPV4, paragraph: "URL Conventions 4.01 §5.1.1.1.1",
      fault: "null is not equal to null there where both are properties",
      covers: { question, _ in operands(question, behind: " eq ").contains(where: isProperty) },
      proof: Proof(path: nullPartners + "%20and%20ReferenceBusinessPartner%20eq%20VATRegistration") { $0.text == "0" }),
  ]

  /// Partners of orders without a reference: there are some.
  private static let nullPartners = "SalesOrderHeaderPartner/$count?$filter=ReferenceBusinessPartner%20eq%20null"

  private static let isRawDate: @Sendable (String, AnswerDifference) -> Bool = { question, difference in
    question.hasSuffix("/$value") && difference.kind == .value && difference.service.hasPrefix("'/Date(")
  }

  // V2 says nothing of null in relations; the store takes V4's rules for both.
  private static let mockSAPV2: [Excuse] = [
    Excuse(
      id: "mock-sap-v2-null", server: .mockSAPV2, paragraph: "OData V2 URI Conventions 4.5 (silent), V4 §5.1.1.1",
      fault: "SQL's logic: null is neither equal nor unequal to anything, and 'not' of that is not true",
      covers: { question, _ in
        negatesRelation(question) || operands(question, behind: " ne ").contains { $0 != "null" }
          || operands(question, behind: " eq ").contains(where: isProperty)
      },
      proof: Proof(
        path:
          "A_SalesOrder/$count?$filter=PricingDate%20eq%20null%20and%20PricingDate%20ne%20datetime'2020-01-01T00:00:00'"
      ) {
        $0.text == "0"
      }),
    Excuse(
      id: "mock-sap-raw-date", server: .mockSAPV2, paragraph: "OData V2 URI Conventions 3.1, JSON Format 4",
      fault: "the raw value of an Edm.DateTime is spelled as in JSON",
      covers: isRawDate,
      proof: Proof(path: "SalesOrderSet('500000007')/CreatedAt/$value") { $0.text.hasPrefix("/Date(") }),
  ]
}
