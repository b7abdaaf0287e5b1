import Foundation
import LarderTestSupport
import Testing

@testable import LarderGenerator

@Suite("Swift names", .timeLimit(.minutes(1)))
struct NamingTests {
  @Test(
    "types are in upper camel case, without SAP's prefixes of views",
    arguments: [
      ("A_SalesOrder", "SalesOrder"), ("C_PURREQUISITION", "PURREQUISITION"), ("order", "Order"),
      ("order_item", "OrderItem"), ("SALES_ORDER_ID", "SalesOrderID"), ("Orders", "Orders"), ("A_1", "A1"),
      ("B_Order", "BOrder"), ("3DModel", "_3DModel"), ("Größe", "Größe"), ("größe", "Größe"), ("订单", "订单"),
      ("Sales Order", "SalesOrder"), ("Sales-Order.Item", "SalesOrderItem"), ("_", "_"), ("", "_"),
      ("Line_1_2", "Line1_2"), ("é", "É"), ("a€b", "AB"),
    ])
  func types(name: String, swiftName: String) { #expect(SwiftIdentifier.type(name) == swiftName) }

  @Test(
    "members are in lower camel case, and abbreviations stay one word",
    arguments: [
      ("SalesOrderID", "salesOrderID"), ("ID", "id"), ("Id", "id"), ("IDs", "ids"), ("IDsOfItems", "idsOfItems"),
      ("URLPath", "urlPath"), ("XMLHTTPRequest", "xmlhttpRequest"), ("SALES_ORDER_ID", "salesOrderID"),
      ("PRODUCT", "product"), ("to_Item", "toItem"), ("_Item", "item"), ("ID2", "id2"), ("A1", "a1"),
      ("3DModel", "_3DModel"), ("Ärger", "ärger"), ("Name", "name"), ("name", "name"), ("OrderSSn", "orderSSn"),
      ("Line_1_2", "line1_2"), ("Line_12", "line12"), ("Address1_City", "address1City"), ("_", "_"),
    ])
  func members(name: String, swiftName: String) { #expect(SwiftIdentifier.member(name) == swiftName) }

  @Test(
    "words in capitals are written like other words if the name has several, whatever the others look like",
    arguments: [
      ("AWPQ_SRV_EC", "AwpqSrvEc", "awpqSrvEc"), ("API_TEST_SRV_Entities", "ApiTestSrvEntities", "apiTestSrvEntities"),
      ("C_PURREQUISITION_ITEM_SRV_Entities", "PurrequisitionItemSrvEntities", "cPurrequisitionItemSrvEntities"),
      ("ZMM_PO_HEADERSet", "ZmmPoHeaderSet", "zmmPoHeaderSet"), ("GET_PO_STATUS", "GetPoStatus", "getPoStatus"),
      ("YY1_FIELD_bus", "Yy1FieldBus", "yy1FieldBus"), ("xSAPx_items", "XSAPxItems", "xSAPxItems"),
      ("SEPMRA_C_PD_ProductCopy", "SepmraCPdProductCopy", "sepmraCPdProductCopy"),
      ("SEPMRA_PRODUCT_Copy", "SepmraProductCopy", "sepmraProductCopy"),
      ("SalesOrder_ID", "SalesOrderID", "salesOrderID"), ("GET_URLPath", "GetURLPath", "getURLPath"),
      ("GET_XMLHTTPRequest", "GetXmlhttpRequest", "getXmlhttpRequest"), ("PO_Number", "PoNumber", "poNumber"),
      ("to_SalesOrderID", "ToSalesOrderID", "toSalesOrderID"),
      ("API_SalesOrderID", "ApiSalesOrderID", "apiSalesOrderID"),
      ("SRV_IDs", "SrvIDs", "srvIDs"), ("GET_BOMs", "GetBoms", "getBoms"), ("_ITEM", "ITEM", "item"),
      ("HEADERSet", "HEADERSet", "headerSet"), ("A_B_Order", "BOrder", "aBOrder"), ("ÄNDERN_X", "ÄndernX", "ändernX"),
      ("订单_ID", "订单ID", "订单ID"), ("X_12", "X12", "x12"), ("AB_12", "Ab12", "ab12"),
    ])
  func words(name: String, type: String, member: String) {
    #expect(SwiftIdentifier.type(name) == type)
    #expect(SwiftIdentifier.member(name) == member)
  }

  @Test("entity sets and operations have no view prefix, and words in capitals as in other names")
  func sets() {
    #expect(NameTable.set("xSAPx_items") == ["xSAPxItems", "xSAPxItems"])
    #expect(NameTable.set("ZMM_PO_HEADERSet") == ["zmmPoHeaderSet", "zmmPoHeaderSet"])
    #expect(NameTable.set("C_PO_ID_Type") == ["poIDType", "cPoIDType"])
    var methods = MethodNames(properties: [])
    #expect(methods.take("C_GET_ID_Of", namespace: "", signature: []) == "getIDOf")
    #expect(methods.take("GetIDOf", namespace: "API_SRV", signature: []) == "apiSrvGetIDOf")
  }

  @Test("keywords are declared in backticks, and names that Swift uses are replaced")
  func keywords() {
    #expect(SwiftIdentifier.declared("in") == "`in`" && SwiftIdentifier.declared("await") == "`await`")
    #expect(SwiftIdentifier.declared("order") == "order")
    #expect(NameTable.property("Self") == ["selfProperty"])
    #expect(NameTable.property("HashValue") == ["hashValueProperty"])
    #expect(NameTable.property("Path") == ["pathProperty"])
    #expect(NameTable.property("In") == ["in"])
    #expect(NameTable.property("odata_list") == ["odataListProperty"])
    #expect(SwiftIdentifier.label("inout") == "`inout`" && SwiftIdentifier.label("in") == "in")
    #expect(NameTable.enumerationMember("None") == ["noneMember"])
    #expect(NameTable.property("_") == ["_Property"] && NameTable.enumerationMember("_") == ["_Member"])
  }

  @Test("sets and parameters do not have the names that generated services use")
  func services() {
    #expect(NameTable.set("Store") == ["storeSet", "storeSet"])
    #expect(NameTable.set("A_Store") == ["storeSet", "aStore"])
    #expect(NameTable.parameter("Store") == ["storeParameter"])
    #expect(NameTable.parameter("odata_list") == ["odataListParameter"])
    #expect(NameTable.parameter("_") == ["parameter"])
    #expect(NameTable.parameter("In") == ["in"])
  }

  @Test("navigation properties do not have the names of members that typed stores have")
  func navigation() throws {
    #expect(NameTable.navigation("Query") == ["toQuery"])
    #expect(NameTable.navigation("options") == ["toOptions"])
    #expect(NameTable.navigation("Items") == ["items", "toItems"])
    for file in [
      "Sources/LarderService/Typed/ODataEntitySet.swift", "Sources/LarderService/Typed/ODataEntityReference.swift",
      "Sources/LarderService/Typed/ODataTypedMedia.swift",
      "Sources/LarderService/Typed/ODataEntityReference+links.swift",
      "Sources/LarderService/Typed/ODataEntitySet+narrower.swift",
    ] {
      let text = try String(contentsOf: PackageRoot.folder.appending(path: file), encoding: .utf8)
      let names = text.matches(of: /public (?:private\(set\) )?(?:func|var|let) (\w+)/).map { String($0.1) }
      #expect(names.count > 4)
      for name in names { #expect(SwiftKeywords.methods.contains(name), "\(name) hides navigation properties") }
    }
  }

  @Test("members with one Swift name get different names, and the one with that very name keeps it")
  func memberCollisions() {
    var table = NameTable()
    let names = table.members([
      ("Name", NameTable.property("Name")), ("name", NameTable.property("name")),
      ("NAME", NameTable.property("NAME")), ("Line1", NameTable.property("Line1")),
      ("line_1", NameTable.property("line_1")), ("SalesOrder", NameTable.property("SalesOrder")),
      ("_SalesOrder", NameTable.navigation("_SalesOrder")),
    ])
    #expect(names == ["name2", "name", "name3", "line1", "line1_2", "salesOrder", "toSalesOrder"])
  }

  @Test("types with one Swift name are distinguished by their namespaces, whatever their order")
  func typeCollisions() {
    let declarations: [TypeNames.Declaration] = [
      .init(namespace: "shop.archive", name: "Order", suffix: "Entity"),
      .init(namespace: "shop", name: "C_Order", suffix: "Entity"),
      .init(namespace: "shop", name: "Order", suffix: "Entity"),
      .init(namespace: "shop", name: "Set", suffix: "Entity"),
      .init(namespace: "shop", name: "data", suffix: "Value"),
      .init(namespace: "shop", name: "ODataThing", suffix: "Value"),
      .init(namespace: "shop", name: "A_ItemType", suffix: "Entity", shortName: "A_Item"),
    ]
    for order in [declarations, declarations.reversed()] {
      let names = TypeNames(order, prefix: "")
      #expect(names["shop.Order"] == "Order")
      #expect(names["shop.C_Order"] == "COrder")
      #expect(names["shop.archive.Order"] == "ArchiveOrder")
      #expect(names["shop.Set"] == "SetEntity")
      #expect(names["shop.data"] == "DataValue")
      #expect(names["shop.ODataThing"] == "ODataThingValue")
      #expect(names["shop.A_ItemType"] == "Item")
      #expect(names["shop.Missing"] == nil)
    }
    #expect(TypeNames(declarations, prefix: "My")["shop.Set"] == "MySet")
  }

  @Test(
    "types do not have the names of those that generated code uses or contains",
    arguments: [
      "AllCases", "Any", "Array", "Bool", "Codable", "CodingKey", "CodingKeys", "Create", "Data", "Decoder", "Double",
      "Element", "Encoder", "Entity", "Error", "Fields", "Float", "Hashable", "ID", "Identifiable", "Int16", "Int32",
      "Int64", "Int8", "Key", "Navigation", "Never", "Optional", "Protocol", "RawRepresentable", "RawValue", "Result",
      "Self", "Sendable", "String", "Type", "UInt8", "UUID", "Unfilterable", "Unsortable", "Update", "Value", "Void",
      "_",
    ])
  func reservedTypes(name: String) {
    let names = TypeNames([.init(namespace: "shop", name: name, suffix: "Entity")], prefix: "")
    #expect(names["shop." + name] == name + "Entity")
  }

  @Test("a suffix does not make the name of a type of Larder: the namespace tells them apart")
  func suffixedTypes() throws {
    let names = TypeNames(
      [
        .init(namespace: "shop", name: "ODataComplex", suffix: "Value"),
        .init(namespace: "shop", name: "OData", suffix: "Entity"),
        .init(namespace: "", name: "OData", suffix: "Value"),
        .init(namespace: "OData", name: "ODataDerived", suffix: "Value"),
      ], prefix: "")
    #expect(names["shop.ODataComplex"] == "ShopODataComplex" && names["shop.OData"] == "ShopOData")
    #expect(names["OData"] == "_OData" && names["OData.ODataDerived"] == "ODataODataDerivedValue")
    // Every public type whose name ends with one of the suffixes is known.
    let list = try String(contentsOf: PackageRoot.folder.appending(path: "docs/public-api.txt"), encoding: .utf8)
    let pattern = /(?m)^Larder(?:OData|Service) (?:struct|enum|protocol|class|typealias) (OData\w+)$/
    let types = list.matches(of: pattern).map { String($0.1) }
    #expect(types.count > 50)
    for suffix in ["Entity", "Value", "Enumeration", "Definition", "Service"] {
      for type in types where type.hasSuffix(suffix) {
        #expect(SwiftKeywords.suffixedTypes.contains(type), "\(type)")
      }
    }
  }

  @Test(
    "patterns match whole names, with or without the namespace",
    arguments: [
      ("Order", "shop.Order", true), ("Order", "shop.Orders", false), ("*Order*", "shop.SalesOrderItem", true),
      ("shop.*", "shop.Order", true), ("Ord?r", "Order", true), ("Ord?r", "Ordr", false), ("*", "x", true),
      ("a*b*c", "aXbYbZc", true), ("a*b*c", "aXbYbZ", false), ("", "x", false), ("order", "Order", false),
    ])
  func patterns(pattern: String, name: String, matches: Bool) {
    #expect(NamePattern(pattern).matches(name) == matches)
  }
}
