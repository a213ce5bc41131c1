// As wait.py, after its functions have been compiled and the map of what is compiled has been written.
import java.lang.management.ManagementFactory;
import javax.management.ObjectName;

public class Wait {
  static int inner(int ms) throws Exception {
    if (ms > 0) Thread.sleep(ms);
    return ms;
  }

  static int middle(int ms) throws Exception {
    return inner(ms) + 1;
  }

  static int outer(int ms) throws Exception {
    return middle(ms) + 1;
  }

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 200000; ++i) outer(0);
    ManagementFactory.getPlatformMBeanServer()
        .invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "compilerPerfmap", null, null);
    System.out.println("ready pid=" + ProcessHandle.current().pid());
    System.in.read();
    for (int i = 0; i < 200; ++i) outer(2);
    System.out.println("done");
    System.in.read();
  }
}
