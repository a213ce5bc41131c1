// A shop behind Tomcat, with two faults: /order waits for one of two connections of a pool, each of which is held for a
// slow query, and /stock for a monitor that is held while a report is written. Threads named "client" ask for both all
// the time.
//
// Shop DIRECTORY: runs until its input ends. DIRECTORY is Tomcat's.
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Properties;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.jdbc.pool.DataSource;

public class Shop {
  // Its connections do nothing.
  public static class NoDatabase implements Driver {
    public Connection connect(String url, Properties properties) {
      return (Connection) Proxy.newProxyInstance(Shop.class.getClassLoader(), new Class<?>[] {Connection.class},
          (proxy, method, arguments) -> method.getReturnType() != boolean.class ? null : method.getName().equals("isValid"));
    }
    public boolean acceptsURL(String url) { return true; }
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) { return new DriverPropertyInfo[0]; }
    public int getMajorVersion() { return 1; }
    public int getMinorVersion() { return 0; }
    public boolean jdbcCompliant() { return false; }
    public Logger getParentLogger() { return Logger.getGlobal(); }
  }

  static final DataSource pool = new DataSource();

  static void pause(int ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      throw new RuntimeException(e);
    }
  }

  public static class Orders extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
      try (Connection connection = pool.getConnection()) {
        slowQuery();
      } catch (SQLException e) {
        throw new IOException(e);
      }
    }
    void slowQuery() { pause(40); }
  }

  public static class Stock extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
      Inventory.reserve();
      response.getWriter().write("reserved");
    }
  }

  static class Inventory {
    static synchronized void reserve() { writeReport(); }
    static void writeReport() { pause(20); }
  }

  static void ask(String url) {
    byte[] bytes = new byte[4096];
    while (true) {
      try (var in = new URL(url).openStream()) {
        while (in.read(bytes) >= 0) {}
      } catch (IOException e) {
        return;
      }
    }
  }

  public static void main(String[] args) throws Exception {
    Logger.getLogger("org.apache").setLevel(Level.WARNING);
    pool.setDriverClassName(NoDatabase.class.getName());
    pool.setUrl("jdbc:none");
    pool.setMaxActive(2);
    pool.setInitialSize(2);
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(args[0]);
    tomcat.setPort(0);
    Context context = tomcat.addContext("", args[0]);
    Tomcat.addServlet(context, "order", new Orders());
    Tomcat.addServlet(context, "stock", new Stock());
    context.addServletMappingDecoded("/order", "order");
    context.addServletMappingDecoded("/stock", "stock");
    tomcat.getConnector();
    tomcat.start();
    String host = "http://localhost:" + tomcat.getConnector().getLocalPort();
    for (int i = 0; i < 12; i++) {
      String url = host + (i % 2 == 0 ? "/order" : "/stock");
      Thread client = new Thread(() -> ask(url), "client");
      client.setDaemon(true);
      client.start();
    }
    pause(2000);
    System.out.println("ready pid=" + ProcessHandle.current().pid());
    while (System.in.read() >= 0) {}
    System.exit(0);
  }
}
