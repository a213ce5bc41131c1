// Waits in many shapes of Java's frames: interpreted, compiled, inlined, deoptimized, through lambdas, method handles,
// reflection and native functions, in classes that come and go. Each thread has the name of its shape while it waits,
// and the stack that the virtual machine itself tells is noted before it.
//
// Shapes SECONDS GEN: prints lines "stack SHAPE CALLER;CALLER;..." before it is done, the callers of Shapes.pause,
// innermost first. GEN: a directory with classes Gen0, Sub0, Gen1, Sub1, ..., which are loaded anew again and again,
// and directories 0, 1, ... with versions of Redefined: as an agent it redefines that again and again instead.
import java.io.File;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

public class Shapes {
  static final Map<String, Set<String>> stacks = new ConcurrentHashMap<>();
  static final StackWalker walker = StackWalker.getInstance(StackWalker.Option.SHOW_HIDDEN_FRAMES);
  static volatile boolean ends;
  static Instrumentation instrumentation;  // null: this is no agent

  public static void premain(String arguments, Instrumentation own) { instrumentation = own; }

  static String told(StackWalker.StackFrame f) {
    return f.getClassName() + "." + f.getMethodName() + ":" + f.getLineNumber();
  }

  // Those that wait are not inlined or not compiled as they like: what they are called by is compared.
  public static long pause(int n) {
    String shape = Thread.currentThread().getName();
    StringBuilder text = new StringBuilder();
    walker.forEach(f -> text.append(told(f)).append(';'));
    // Without the frames of the walk itself, and this one.
    String all = text.toString();
    int own = all.indexOf("Shapes.pause:");
    stacks.computeIfAbsent(shape, s -> ConcurrentHashMap.newKeySet()).add(all.substring(all.indexOf(';', own) + 1));
    try {
      switch (n % 3) {
        case 0: Thread.sleep(1); break;
        case 1: LockSupport.parkNanos(1_000_000); break;
        default:
          Object lock = new Object();
          synchronized (lock) { lock.wait(1); }
      }
    } catch (InterruptedException e) {
      throw new RuntimeException(e);
    }
    return n;
  }

  // A virtual call, of which a compiler knows one target until another class is loaded.
  public static class Base {
    public long call(int n) { return Shapes.pause(n); }
    public long run(int n) { return call(n); }
  }
  static Base base = new Base();

  interface Step { long step(int n); }
  static class Step0 implements Step { public long step(int n) { return pause(n) + 1; } }
  static class Step1 implements Step { public long step(int n) { return pause(n) + 2; } }
  static class Step2 implements Step { public synchronized long step(int n) { return pause(n) + 3; } }
  static class Step3 implements Step { public long step(int n) { try { return pause(n); } finally { n++; } } }

  static long recurse(int depth, int n) { return depth == 0 ? pause(n) : recurse(depth - 1, n) + 1; }
  static long one(int n) { return two(n + 1) - 1; }
  static long two(int n) { return three(n + 1) - 1; }
  static long three(int n) { return pause(n) + 1; }
  static long many(long a, long b, double c, double d, Object e, int f, int g, long h, int n) {
    return a + b + (long) (c + d) + (e == null ? 1 : 0) + f + g + h + pause(n);
  }
  static long thrown(int n) {
    try {
      if (n >= 0) throw new IllegalStateException();
      return 0;
    } catch (IllegalStateException e) {
      return pause(n);
    }
  }
  // Compiled while it runs.
  static long loop(int n) {
    long sum = 0;
    for (int i = 0; i < 20000; i++) {
      sum += i ^ n;
      if (i == 15000) sum += pause(n);
    }
    return sum;
  }
  static final MethodHandle handle;
  static final java.lang.reflect.Method method;
  static {
    try {
      handle = MethodHandles.lookup().findStatic(Shapes.class, "three", MethodType.methodType(long.class, int.class));
      method = Shapes.class.getDeclaredMethod("two", int.class);
    } catch (ReflectiveOperationException e) {
      throw new RuntimeException(e);
    }
  }

  static final Step[] steps = {new Step0(), new Step1(), new Step2(), new Step3()};

  @SuppressWarnings("removal")
  static long run(int shape, int n) throws Throwable {
    switch (shape) {
      case 0: return recurse(1, n);
      case 1: return recurse(7, n);
      case 2: return recurse(30, n);
      case 3: return recurse(150, n);
      case 4: return one(n);
      case 5: return many(1, 2, 3, 4, null, 5, 6, 7, n);
      case 6: return thrown(n);
      case 7: return loop(n);
      case 8: return (long) handle.invokeExact(n);
      case 9: return (Long) method.invoke(null, n);
      case 10: Supplier<Long> lambda = () -> one(n); return lambda.get();
      case 11: return AccessController.doPrivileged((PrivilegedAction<Long>) () -> two(n));
      case 12: return base.call(n);
      case 13: return new ArrayList<>(List.of(3, 1, 2)).stream().mapToLong(i -> i == 1 ? pause(n) : i).sum();
      default: return steps[shape % 4].step(n);
    }
  }
  static final int SHAPES = 18;

  static void shapes(int seed) {
    Random random = new Random(seed);
    try {
      while (!ends) {
        int shape = random.nextInt(SHAPES);
        Thread.currentThread().setName("s" + shape);
        run(shape, shape);
        Thread.currentThread().setName("none");
      }
    } catch (Throwable e) {
      e.printStackTrace();
      System.exit(3);
    }
  }

  // Each time it is another class, with methods of its own, which is compiled, waits, and goes away.
  static void churn(File gen, int seed) {
    Random random = new Random(seed);
    int count = gen.list((d, name) -> name.startsWith("Gen")).length;
    try {
      for (int i = 0; !ends; i++) {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {gen.toURI().toURL()})) {
          int number = random.nextInt(count);
          Base made = (Base) loader.loadClass("Gen" + number).getDeclaredConstructor().newInstance();
          for (int j = 0; j < 20000; j++) made.call(-1);
          Thread.currentThread().setName("g" + number);
          for (int j = 0; j < 5; j++) made.call(number);
          Thread.currentThread().setName("none");
        }
        if (i % 20 == 0) System.gc();
      }
    } catch (Throwable e) {
      e.printStackTrace();
      System.exit(3);
    }
  }

  // Another class is loaded while a method waits that was compiled as if there never were one: it is deoptimized then.
  static void deoptimize(File gen, int seed) {
    Random random = new Random(seed);
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      while (!ends) {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {gen.toURI().toURL()})) {
          int number = random.nextInt(20);
          Base made = (Base) loader.loadClass("Gen" + number).getDeclaredConstructor().newInstance();
          for (int j = 0; j < 20000; j++) made.run(-1);
          Thread.currentThread().setName("d" + number);
          var loaded = other.submit(() -> loader.loadClass("Sub" + number));
          for (int j = 0; j < 3; j++) made.run(number);
          Thread.currentThread().setName("none");
          loaded.get();
        }
      }
    } catch (Throwable e) {
      e.printStackTrace();
      System.exit(3);
    }
    other.shutdown();
  }

  static void redefine(File gen, int seed) {
    Random random = new Random(seed);
    try {
      while (!ends) {
        byte[] version = Files.readAllBytes(new File(gen, random.nextInt(8) + "/Redefined.class").toPath());
        instrumentation.redefineClasses(new ClassDefinition(Class.forName("Redefined"), version));
        Thread.sleep(random.nextInt(200));  // longer than it takes to read the names
      }
    } catch (Throwable e) {
      e.printStackTrace();
      System.exit(3);
    }
  }

  static void callRedefined() {
    try {
      Base made = (Base) Class.forName("Redefined").getDeclaredConstructor().newInstance();
      for (int i = 0; !ends; i++) {
        for (int j = 0; i % 8 == 0 && j < 5000; j++) made.call(-1);
        made.call(i % 3);  // sets the thread's name to that of the version
        Thread.currentThread().setName("none");
      }
    } catch (Throwable e) {
      e.printStackTrace();
      System.exit(3);
    }
  }

  @SuppressWarnings("deprecation")
  public static void main(String[] args) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int seed = i;
      threads.add(new Thread(() -> shapes(seed)));
    }
    File gen = new File(args[1]);
    if (instrumentation != null) {
      threads.add(new Thread(() -> redefine(gen, 8)));
      for (int i = 0; i < 2; i++) threads.add(new Thread(Shapes::callRedefined));
    } else {
      for (int i = 0; i < 2; i++) {
        int seed = i;
        threads.add(new Thread(() -> churn(gen, seed)));
      }
      threads.add(new Thread(() -> deoptimize(gen, 7)));
    }
    for (Thread t : threads) t.start();
    System.out.println("ready pid=" + ProcessHandle.current().pid());
    System.in.read();
    Thread.sleep(1000L * Integer.parseInt(args[0]));
    ends = true;
    for (Thread t : threads) t.join();
    stacks.forEach((shape, all) -> all.forEach(stack -> System.out.println("stack " + shape + " " + stack)));
    System.out.println("done");
    System.in.read();
  }
}
