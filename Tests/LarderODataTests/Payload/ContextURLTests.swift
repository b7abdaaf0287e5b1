import Testing

@testable import LarderOData

@Suite("Context URLs", .timeLimit(.minutes(5)))
struct ContextURLTests {
  /// OData Protocol 4.01 §10.1 to §10.18, one template each.
  @Test(
    "Each template of the Protocol 4.01 §10 is recognized",
    arguments: [
      ("http://host/service/$metadata", "", ContextURL.Item.path, nil),
      ("$metadata#Customers", "Customers", .path, nil),
      ("$metadata#Orders(4711)/Items", "Orders[4711]/Items", .path, nil),
      ("$metadata#Customers/$entity", "Customers", .entity, nil),
      ("$metadata#Contoso", "Contoso", .path, nil),
      ("$metadata#Customers/Model.VipCustomer", "Customers/Model.VipCustomer", .path, nil),
      ("$metadata#Customers/Model.VipCustomer/$entity", "Customers/Model.VipCustomer", .entity, nil),
      ("$metadata#Customers(Address,Orders)", "Customers[Address,Orders]", .path, nil),
      ("$metadata#Customers(Name,Rating)/$entity", "Customers[Name,Rating]", .entity, nil),
      (
        "$metadata#Employees/Sales.Manager(Name,DirectReports+(FirstName))/$entity",
        "Employees/Sales.Manager[Name,DirectReports+(FirstName)]", .entity, nil
      ),
      ("$metadata#Collection($ref)", "", .references, nil),
      ("$metadata#$ref", "", .reference, nil),
      ("$metadata#Customers('ALFKI')/Address", "Customers['ALFKI']/Address", .path, nil),
      ("$metadata#Customers('A/(b)''c')/Name", "Customers['A/(b)''c']/Name", .path, nil),
      ("$metadata#Collection(Edm.String)", "", .path, "Edm.String"),
      ("$metadata#Edm.Decimal", "Edm.Decimal", .path, nil),
      ("$metadata#Customers/$delta", "Customers", .delta, nil),
      ("#Customers/$deletedEntity", "Customers", .deletedEntity, nil),
      ("#Customers/$link", "Customers", .link, nil),
      ("#Customers/$deletedLink", "Customers", .deletedLink, nil),
      ("$metadata#Customers/@Element", "Customers", .entity, nil),
    ] as [(String, String, ContextURL.Item, String?)])
  func templates(text: String, path: String, item: ContextURL.Item, collectionOf: String?) {
    let context = ContextURL(text)
    let steps = context.path.map { $0.name + ($0.brackets.map { "[\($0)]" } ?? "") }.joined(separator: "/")
    #expect(steps == path)
    #expect(context.item == item)
    #expect(context.collectionOf == collectionOf)
  }

  @Test("The select list names the expanded properties (§10.8)")
  func expanded() {
    #expect(ContextURL("#A(ID,B(ID,C(ID)),D+(X),E)").expanded == ["B", "D"])
    #expect(ContextURL("#A").expanded.isEmpty)
  }

  @Test("Truncated fragments are read as far as possible", arguments: ["#A(", "#A('", "##)", "##/", "#A(x))/b"])
  func odd(text: String) { #expect(ContextURL(text).text == text) }
}
